"""A page for one object: what is known of it in panels, and what can be done with it."""

from collections.abc import Iterable
from typing import Any, ClassVar, NamedTuple

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.forms import Form
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.utils.html import format_html

from backoffice.access.models import User
from backoffice.audit.trail import Refusal
from backoffice.pages.admin import OfficeAdmin
from backoffice.pages.parts import Act, Panel, page_of, url_of


class ShownAct(NamedTuple):
    """An act as its page shows it: with its form, blank or bound, and where it posts to."""

    act: Act
    form: Form | None
    url: str


class ObjectAdmin(OfficeAdmin):
    """An admin whose objects are looked at and acted upon, never edited as rows."""

    # The names that `acts` may give: each has a URL of its own.
    act_names: ClassVar[tuple[str, ...]] = ()
    # Whether the page asks for news by itself while the object is on its way.
    is_live: ClassVar[bool] = False

    def panels(self, request: HttpRequest, obj: Any) -> Iterable[Panel]:
        """What the page shows, in order."""
        raise NotImplementedError(f"{type(self).__name__} has no panels.")

    def acts(self, request: HttpRequest, obj: Any) -> Iterable[Act]:
        """What can be done with the object; the buttons stand in this order."""
        return ()

    def badge_of(self, obj: Any) -> Any:
        """The badge beside the title."""
        return ""

    def lead_of(self, obj: Any) -> str:
        """The sentence under the title."""
        return ""

    def is_under_way(self, obj: Any) -> bool:
        """Whether the page should ask for news: while the object has not come to an end."""
        return self.is_live and not getattr(obj, "has_ended", True)

    def state_of(self, obj: Any) -> str:
        """What the page watches: it loads itself again when this becomes another word."""
        return str(getattr(obj, "state", getattr(obj, "status", "")))

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody edits a row as such; what changes it is an act."""
        return False

    def get_urls(self) -> list[URLPattern]:
        info = f"{self.opts.app_label}_{self.opts.model_name}"
        own = [
            path(
                f"<path:object_id>/{name}/",
                self.admin_site.admin_view(self.act_view),
                {"act_name": name},
                name=f"{info}_{name}",
            )
            for name in self.act_names
        ]
        state = path(
            "<path:object_id>/state/", self.admin_site.admin_view(self.state_view), name=f"{info}_state"
        )
        return [state, *own, *super().get_urls()]

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        if request.method not in ("GET", "HEAD"):
            return HttpResponseNotAllowed(("GET", "HEAD"))
        return self.object_page(request, self.object_or_404(request, object_id))

    def object_page(
        self, request: HttpRequest, obj: Any, bound: dict[str, Form] | None = None
    ) -> HttpResponse:
        """The page; `bound` holds the forms that came back with something to mend, by their act's name."""
        forms = bound or {}
        shown = [
            ShownAct(act, forms.get(act.name) or _blank(act, request, obj), act.href or url_of(obj, act.name))
            for act in self.acts(request, obj)
            if not (act.why_not and act.hides_when_off)
        ]
        return self.render(
            request,
            "office/object.html",
            title=str(obj),
            original=obj,
            badge=self.badge_of(obj),
            lead=self.lead_of(obj),
            acts=[entry for entry in shown if not entry.act.is_embedded],
            embedded=[entry for entry in shown if entry.act.is_embedded],
            panels=list(self.panels(request, obj)),
            is_under_way=self.is_under_way(obj),
            state_url=url_of(obj, "state"),
            state=self.state_of(obj),
        )

    def state_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """The state alone, for a page that asks for news."""
        if request.method not in ("GET", "HEAD"):
            return HttpResponseNotAllowed(("GET", "HEAD"))
        obj = self.object_or_404(request, object_id)
        return JsonResponse({"state": self.state_of(obj), "under_way": self.is_under_way(obj)})

    def act_view(self, request: HttpRequest, object_id: str, act_name: str) -> HttpResponse:
        """Ask for what an act needs, then do it. A GET changes nothing."""
        obj = self.object_or_404(request, object_id)
        act = next((act for act in self.acts(request, obj) if act.name == act_name), None)
        if act is None and request.method == "GET":
            # A link on a page that is no longer true; the page as it is now says why.
            return redirect(page_of(obj))
        if act is None:
            raise PermissionDenied
        if request.method != "POST":
            return self._ask(request, obj, act)
        form = act.form(**_arguments(request, obj), data=request.POST) if act.form is not None else None
        if form is not None and not form.is_valid():
            return self._ask_again(request, obj, act, form)
        try:
            sentence = act.do(form.cleaned_data if form is not None else {})
        except Refusal as refusal:
            return self._refused(request, obj, act, form, refusal)
        messages.success(request, sentence)
        return redirect(self.after(request, obj, act))

    def after(self, request: HttpRequest, obj: Any, act: Act) -> str:
        """Where to go when an act is done."""
        return page_of(obj)

    def _ask(self, request: HttpRequest, obj: Any, act: Act) -> HttpResponse:
        if act.form is None or act.is_embedded:
            return redirect(page_of(obj))
        return self._act_page(request, obj, act, _blank(act, request, obj))

    def _ask_again(self, request: HttpRequest, obj: Any, act: Act, form: Form) -> HttpResponse:
        if act.is_embedded:
            return self.object_page(request, obj, {act.name: form})
        return self._act_page(request, obj, act, form)

    def _refused(
        self, request: HttpRequest, obj: Any, act: Act, form: Form | None, refusal: Refusal
    ) -> HttpResponse:
        obj.refresh_from_db()
        if form is None or act.is_embedded:
            messages.error(request, refusal.sentence)
            return redirect(page_of(obj))
        form.add_error(None, refusal.sentence)
        return self._act_page(request, obj, act, form)

    def _act_page(self, request: HttpRequest, obj: Any, act: Act, form: Form | None) -> HttpResponse:
        title = format_html("{}: {}", act.label, str(obj))
        return self.render(
            request,
            "office/act.html",
            title=title,
            original=obj,
            act=act,
            form=form,
            url=url_of(obj, act.name),
            back_url=page_of(obj),
        )


def _arguments(request: HttpRequest, obj: Any) -> dict[str, Any]:
    """Forms of ours take the request and the object that they are about."""
    return {"request": request, "about": obj}


def _blank(act: Act, request: HttpRequest, obj: Any) -> Form | None:
    return act.form(**_arguments(request, obj)) if act.form is not None else None


def the_person(request: HttpRequest) -> User:
    """Who is signed in; pages of the admin are never shown to anybody else."""
    assert isinstance(request.user, User)
    return request.user
