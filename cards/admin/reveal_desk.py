"""The page that reveals a card. It stands alone: no theme, its own policy, and no number in any template.

A GET shows a form. The number comes in the answer to a POST of the page's script, as JSON, and the security
code in the answer to another; the script puts them into text nodes and takes them away again.
"""

from collections.abc import Callable
from typing import Any

from csp.constants import NONE, SELF
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse
from django.shortcuts import render
from django.urls import URLPattern, path
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables

from backoffice.access.models import User
from backoffice.audit.trail import NotAllowed, Refusal
from backoffice.endl import KeyRefused, PrivateKey
from backoffice.pages.objects import ObjectAdmin, the_person
from backoffice.pages.parts import page_of
from cards import budgets, keyring, looks, reveal
from cards.admin.masks import details_of, mask_of
from cards.models import Card, CardReveal, SealedDetails
from cards.reveal_forms import RevealForm

# Only a script of this origin can send it. A plain form would put the JSON on the screen, and into history.
SCRIPT_HEADER = "X-Office-Reveal"
POLICY = {
    "default-src": [NONE],
    "script-src": [SELF],
    "style-src": [SELF],
    "connect-src": [SELF],
    "form-action": [SELF],
    "frame-ancestors": [NONE],
    "base-uri": [NONE],
    "require-trusted-types-for": ["'script'"],
}
_HEADERS = {
    "Cache-Control": "no-store, private, max-age=0",
    "Pragma": "no-cache",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Permissions-Policy": (
        "camera=(), microphone=(), geolocation=(), display-capture=(), clipboard-read=(), "
        "clipboard-write=(self)"
    ),
}
NO_KEY = "The private key could not be read: an administrator looks at ENDL_PRIVATE_KEY_FILES."
NEVER_CAME = "The details of this card never reached this office."
_STATUS: tuple[tuple[type[Exception], int], ...] = (
    (NotAllowed, 403),
    (budgets.TooManyLooks, 429),
    (reveal.DetailsGone, 410),
)


class NoKey(Refusal):
    """The private keys are not to be had; no look was used."""


class WrongFactor(Refusal):
    """Whoever sat there could not prove to be the person who signed in."""


class RevealDesk(ObjectAdmin):
    """Mixed into the admin of cards: the page, and what its script asks for."""

    def get_urls(self) -> list[URLPattern]:
        doors: dict[str, Callable[..., HttpResponse]] = {
            "reveal": self.reveal_view,
            "reveal/cvv": self.cvv_view,
            "reveal/longer": self.longer_view,
            "reveal/copied": self.copied_view,
            "reveal/ended": self.ended_view,
        }
        own = [
            path(
                f"<path:object_id>/{door}/",
                self.admin_site.admin_view(sensitive_post_parameters()(view)),
                name=f"cards_card_{door.replace('/', '-')}",
            )
            for door, view in doors.items()
        ]
        return [*own, *super().get_urls()]

    def reveal_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show the form, or begin a look."""
        card: Card = self.object_or_404(request, object_id)
        if request.method in ("GET", "HEAD"):
            return apart(_page(request, card))
        if request.method != "POST":
            return apart(HttpResponseNotAllowed(("GET", "HEAD", "POST")))
        details = details_of(card)
        if not _is_by_script(request) or details is None:
            return apart(JsonResponse({"message": NEVER_CAME if details is None else _BY_SCRIPT}, status=400))
        return apart(_begin(request, details))

    def cvv_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """The security code, once in a look."""
        return self._in_a_look(request, object_id, _cvv)

    def longer_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """The same time once more."""
        return self._in_a_look(request, object_id, _longer)

    def copied_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """A field is about to be copied."""
        return self._in_a_look(request, object_id, _copied)

    def ended_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """The values are gone from the screen."""
        return self._in_a_look(request, object_id, _ended)

    def _in_a_look(
        self,
        request: HttpRequest,
        object_id: str,
        deed: Callable[[HttpRequest, SealedDetails], dict[str, Any]],
    ) -> HttpResponse:
        details = details_of(self.object_or_404(request, object_id))
        if request.method != "POST":
            return apart(HttpResponseNotAllowed(("POST",)))
        if not _is_by_script(request) or details is None:
            return apart(JsonResponse({"message": _BY_SCRIPT}, status=400))
        try:
            return apart(JsonResponse(deed(request, details)))
        except (Refusal, reveal.CannotOpen) as problem:
            return apart(_refused(problem))


_BY_SCRIPT = "The page itself asks for card details. Open it and press “Reveal” there."


def apart(response: HttpResponse) -> HttpResponse:
    """Put on an answer what keeps it to itself: policy, isolation, no referrer, no cache, no compression."""
    response._csp_config = POLICY  # type: ignore[attr-defined]  # noqa: SLF001  (django-csp's own mark)
    for name, value in _HEADERS.items():
        response.headers[name] = value
    if isinstance(response, JsonResponse):
        # Lengths of compressed answers tell of their content (BREACH); what is encoded already is left alone.
        response.headers["Content-Encoding"] = "identity"
    return response


def why_not_reveal(person: User, card: Card) -> str:
    """Why the button is off; blank when it is on."""
    details = details_of(card)
    if details is None:
        return NEVER_CAME
    refusal = looks.why_not(details=details, by=person, now=timezone.now())
    if refusal is not None:
        return refusal.sentence
    return "" if settings.ENDL_PRIVATE_KEY_FILES else NO_KEY


def _page(request: HttpRequest, card: Card) -> HttpResponse:
    person, details = the_person(request), details_of(card)
    context = {
        "card": card,
        "mask": mask_of(card),
        "form": RevealForm(request=request),
        "why_not": why_not_reveal(person, card),
        "left": budgets.left_of(details) if details is not None else 0,
        "most": settings.REVEALS_PER_CARD,
        "seconds": settings.REVEAL_SECONDS,
        "may_copy": person.has_perm(looks.COPY),
        "viewer": str(person),
        "back": page_of(card),
    }
    return render(request, "office/cards/reveal.html", context)


@sensitive_variables()
def _begin(request: HttpRequest, details: SealedDetails) -> HttpResponse:
    """Ask who and why, commit the look, and only then open the envelope."""
    person, now = the_person(request), timezone.now()
    refusal = looks.why_not(details=details, by=person, now=now)
    if refusal is not None:
        looks.note_refusal(details=details, refusal=refusal, by=person, now=now)
        return _refused(refusal)
    form = RevealForm(request.POST, request=request)
    if not form.is_valid():
        _note_wrong_factor(form, details, person)
        return JsonResponse(
            {"errors": {name: list(found) for name, found in form.errors.items()}}, status=400
        )
    try:
        keys = _keys()
        view = looks.begin(details=details, by=person, now=timezone.now(), **form.typed())
        opened = reveal.unseal(view.look, keys, now=now)
    except (Refusal, reveal.CannotOpen) as problem:
        return _refused(problem)
    return JsonResponse(
        {
            "pan": opened.pan,
            "exp_month": opened.exp_month,
            "exp_year": opened.exp_year,
            "has_cvv": bool(opened.cvv),
            "token": view.token,
            "seconds": settings.REVEAL_SECONDS,
            "left": budgets.left_of(details),
            "at": f"{timezone.localtime(view.look.started_at):%Y-%m-%d %H:%M:%S %Z}",
        }
    )


def _note_wrong_factor(form: RevealForm, details: SealedDetails, person: User) -> None:
    if form.has_error("factor") and form.data.get("factor"):
        refusal = WrongFactor(" ".join(map(str, form.errors["factor"])))
        looks.note_refusal(details=details, refusal=refusal, by=person, now=timezone.now(), **form.typed())


@sensitive_variables()
def _cvv(request: HttpRequest, details: SealedDetails) -> dict[str, Any]:
    keys = _keys()
    look = looks.ask_cvv(details=details, token=_token(request), by=the_person(request), now=timezone.now())
    return {"cvv": reveal.unseal(look, keys, now=timezone.now()).cvv}


def _longer(request: HttpRequest, details: SealedDetails) -> dict[str, Any]:
    looks.prolong(details=details, token=_token(request), by=the_person(request), now=timezone.now())
    return {"seconds": settings.REVEAL_SECONDS}


def _copied(request: HttpRequest, details: SealedDetails) -> dict[str, Any]:
    field = request.POST.get("field", "")
    person, now = the_person(request), timezone.now()
    looks.note_copy(details=details, token=_token(request), field=field, by=person, now=now)
    return {}


def _ended(request: HttpRequest, details: SealedDetails) -> dict[str, Any]:
    word = request.POST.get("ending", "")
    ending = CardReveal.Ending(word) if word in CardReveal.Ending.values else CardReveal.Ending.LEFT
    person, now = the_person(request), timezone.now()
    looks.end(details=details, token=_token(request), ending=ending, by=person, now=now)
    return {}


def _keys() -> list[PrivateKey]:
    try:
        return keyring.private_keys()
    except (KeyRefused, OSError):
        raise NoKey(NO_KEY) from None


def _refused(problem: Refusal | reveal.CannotOpen) -> JsonResponse:
    status = next((code for kind, code in _STATUS if isinstance(problem, kind)), 409)
    return JsonResponse({"message": str(problem)}, status=status)


def _token(request: HttpRequest) -> str:
    return request.POST.get("token", "")[:100]


def _is_by_script(request: HttpRequest) -> bool:
    return request.headers.get(SCRIPT_HEADER) == "1"
