"""Forms that end in an operation, and the admin page that holds one."""

import secrets
from typing import Any, ClassVar

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.forms.models import ModelChoiceField
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from unfold import widgets

from backoffice.access.models import User
from backoffice.access.stepup import StepUpForm
from backoffice.audit.trail import Refusal
from backoffice.pages.fields import LongText
from backoffice.pages.objects import ObjectAdmin, the_person
from backoffice.pages.parts import page_of

# Up to so many choices stand in a plain list; beyond that a picker searches.
SHORT_LIST = 300


def say_what_is_missing(form: forms.Form) -> None:
    """Let every field that must be filled in say so by its name."""
    for name, field in form.fields.items():
        if field.error_messages["required"] == forms.Field.default_error_messages["required"]:
            label = field.label or name.replace("_", " ")
            verb = "Choose" if isinstance(field, forms.ChoiceField) else "Fill in"
            field.error_messages["required"] = f"{verb} “{label}”: it cannot stay empty."


class ActForm(StepUpForm):
    """The form of an act on an object: knows who asks and what it is about.

    Asks for the second factor where `needs_step_up` says so and the session has not proved it lately.
    """

    needs_step_up: ClassVar[bool] = False

    def __init__(self, *args: Any, request: HttpRequest, about: Any = None, **kwargs: Any) -> None:
        super().__init__(*args, request=request, **kwargs)
        self.about = about
        if not self.needs_step_up:
            self.fields.pop("factor", None)
        if "factor" in self.fields:
            self.order_fields([name for name in self.fields if name != "factor"])
            self.fields["factor"].widget.attrs.setdefault("class", " ".join(widgets.INPUT_CLASSES))
        say_what_is_missing(self)


class ReasonForm(ActForm):
    """Asks why."""

    reason = LongText(label="Reason", max_length=500)


class OptionalReasonForm(ActForm):
    """Asks why, and takes silence for an answer."""

    reason = LongText(label="Reason", max_length=500, required=False)


class OperationForm(forms.Form):
    """A form whose post is one operation. `form_token` lets a second click find what the first one made."""

    form_token = forms.CharField(max_length=64, min_length=16, widget=forms.HiddenInput)
    # Which field a refusal belongs to, by the name of its class; others stand above the form.
    refusal_fields: ClassVar[dict[str, str]] = {}
    submit_label: ClassVar[str] = "Save"
    lead: str = ""

    def __init__(self, *args: Any, request: HttpRequest, about: Any = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.request = request
        self.about = about
        self.person: User = the_person(request)
        self.fields["form_token"].initial = secrets.token_hex(16)
        self.prepare()
        say_what_is_missing(self)

    def prepare(self) -> None:
        """Fit the fields to the person, such as the customers to choose from."""

    def perform(self, *, now: Any) -> Model:
        """Call the operation. Raises its Refusals."""
        raise NotImplementedError(f"{type(self).__name__} performs nothing.")

    def done(self, made: Model) -> str:
        """The sentence that says what was done."""
        return f"{made} is saved."


class FormAdmin(ObjectAdmin):
    """An object admin whose add page, and edit page where it has one, is a form that ends in an operation."""

    add_form_class: ClassVar[type[OperationForm] | None] = None

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        if self.add_form_class is None or not self.has_add_permission(request):
            raise PermissionDenied
        return self.form_page(request, self.add_form_class, title=self.add_title())

    def add_title(self) -> str:
        """What the add page is called: the words of its button."""
        return self.add_form_class.submit_label if self.add_form_class else ""

    def form_page(
        self, request: HttpRequest, form_class: type[OperationForm], *, title: str, about: Any = None
    ) -> HttpResponse:
        """Show the form; on a good post perform it and go to what it made."""
        if request.method != "POST":
            return self._form(
                request, form_class(request=request, about=about, initial=self.initial(request)), title
            )
        form = form_class(request.POST, request=request, about=about)
        if not form.is_valid():
            return self._form(request, form, title)
        try:
            made = form.perform(now=timezone.now())
        except Refusal as refusal:
            form.add_error(form.refusal_fields.get(type(refusal).__name__), refusal.sentence)
            return self._form(request, form, title)
        messages.success(request, form.done(made))
        self.after_form(request, made)
        return redirect(page_of(made))

    def initial(self, request: HttpRequest) -> dict[str, Any]:
        """What stands in a fresh form; only what a form names as safe is taken from the address."""
        return {}

    def after_form(self, request: HttpRequest, made: Model) -> None:
        """What the desk does after the commit, such as ringing the bell."""

    def _form(self, request: HttpRequest, form: OperationForm, title: str) -> HttpResponse:
        back_url = page_of(form.about) if form.about is not None else ""
        return self.render(request, "office/form.html", title=title, form=form, back_url=back_url)


def choice(rows: QuerySet[Any], **kwargs: Any) -> "ModelChoiceField[Any]":
    """A choice among rows, in the house's dress."""
    return ModelChoiceField(rows, widget=widgets.UnfoldAdminSelectWidget(), **kwargs)
