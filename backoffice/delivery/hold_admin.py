"""The pages of holds: setting one, and letting it go."""

from collections.abc import Iterable
from datetime import datetime
from functools import partial
from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.utils import timezone
from unfold import widgets
from unfold.decorators import display

from backoffice.access.models import User
from backoffice.delivery import holds
from backoffice.delivery.models import Hold
from backoffice.pages.fields import LongText
from backoffice.pages.forms import FormAdmin, OperationForm, ReasonForm
from backoffice.pages.objects import the_person
from backoffice.pages.parts import Act, Fact, Panel, badge, when


class HoldForm(OperationForm):
    """Asks what to hold, and why."""

    submit_label = "Hold"
    lead = "Nothing of it is sent until another person lifts the hold. What was approved waits."

    scope = forms.ChoiceField(
        label="What to hold", choices=Hold.Scope.choices, widget=widgets.UnfoldAdminSelectWidget()
    )
    reason = LongText(label="Reason", max_length=500, help_text="Everybody reads it on every page.")
    refusal_fields = {"AlreadyHeld": "scope"}

    def perform(self, *, now: datetime) -> Hold:
        given = self.cleaned_data
        return holds.hold(scope=Hold.Scope(given["scope"]), reason=given["reason"], by=self.person, now=now)

    def done(self, made: Any) -> str:
        return f"{made}. Another person can lift it."


@admin.register(Hold)
class HoldAdmin(FormAdmin):
    """What people hold back, and who let it go again."""

    add_form_class = HoldForm
    act_names = ("release",)
    list_display = ("scope", "reason", "set_by", "since", "until", "lifted_by")
    list_filter = ("scope",)
    list_select_related = ("set_by", "lifted_by")
    search_fields = ("reason",)
    ordering = ("-set_at",)

    @display(description="Since", ordering="set_at")
    def since(self, hold: Hold) -> Any:
        return when(hold.set_at)

    @display(description="Until", ordering="lifted_at")
    def until(self, hold: Hold) -> Any:
        return when(hold.lifted_at) if hold.lifted_at else badge("held", "Still held", tone="alarm")

    def badge_of(self, obj: Hold) -> Any:
        return badge("lifted", tone="good") if obj.lifted_at else badge("held", "Still held", tone="alarm")

    def acts(self, request: HttpRequest, obj: Hold) -> Iterable[Act]:
        if obj.lifted_at is None:
            person = the_person(request)
            yield Act(
                "release",
                "Release",
                partial(_release, obj, person),
                form=ReasonForm,
                why_not=holds.why_not_release(obj, person),
                tone="primary",
                lead="What waits is sent within seconds.",
            )

    def panels(self, request: HttpRequest, obj: Hold) -> Iterable[Panel]:
        facts = [
            Fact("What is held", obj.get_scope_display()),
            Fact("Why", obj.reason),
            Fact("Set by", str(obj.set_by)),
            Fact("Since", when(obj.set_at)),
        ]
        if obj.lifted_at is not None:
            facts += [
                Fact("Lifted by", str(obj.lifted_by)),
                Fact("Lifted at", when(obj.lifted_at)),
                Fact("Why lifted", obj.lift_reason),
            ]
        yield Panel("Hold", facts)


def _release(hold: Hold, person: User, given: dict[str, Any]) -> str:
    holds.release(hold=hold, reason=given["reason"], by=person, now=timezone.now())
    return f"{hold.get_scope_display()} goes on."
