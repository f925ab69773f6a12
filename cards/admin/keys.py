"""The page of keys: which there are, what needs them, what Endl must have, what is wrong with a file."""

from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from unfold.decorators import display

from backoffice.endl import RECOMMENDED_BITS
from backoffice.pages.objects import ObjectAdmin
from backoffice.pages.parts import Fact, Panel, Table, badge, code, when
from cards import keyring, keys
from cards.models import EncryptionKey, SealedDetails

State = EncryptionKey.State
_TONES = {State.PENDING: "wait", State.ACTIVE: "good", State.DECRYPT_ONLY: "quiet", State.DESTROYED: "quiet"}
_LEADS = {
    State.PENDING: "Made, and not in use yet: Endl does not seal to it.",
    State.ACTIVE: "Endl seals card details to this key.",
    State.DECRYPT_ONLY: "Endl no longer seals to this key; what it sealed before still opens.",
    State.DESTROYED: "Nothing is opened with this key any more.",
}


@admin.register(EncryptionKey)
class EncryptionKeyAdmin(ObjectAdmin):
    """Keys by their fingerprints. They are led through their life by `manage.py keys`, never from here."""

    list_display = ("shown_fingerprint", "shown_state", "bits", "shown_envelopes", "first_seen", "activated")
    list_filter = ("state",)
    search_fields = ("fingerprint",)
    ordering = ("-first_seen_at",)
    list_before_template = "office/cards/key_files.html"

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        kept = SealedDetails.objects.filter(destroyed_at=None, key_fingerprint=OuterRef("fingerprint"))
        counted = kept.order_by().values("key_fingerprint").annotate(count=Count("pk")).values("count")
        rows: QuerySet[Any] = super().get_queryset(request)
        counted_rows: QuerySet[Any] = rows.annotate(envelopes=Coalesce(Subquery(counted), 0))
        return counted_rows

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return super().changelist_view(request, {**(extra_context or {}), "key_panels": list(_files())})

    @display(description="Fingerprint (SHA-256)", ordering="fingerprint")
    def shown_fingerprint(self, key: EncryptionKey) -> Any:
        return code(key.fingerprint[:16] + "…")

    @display(description="State", ordering="state")
    def shown_state(self, key: EncryptionKey) -> Any:
        return _state(key)

    @display(description="Envelopes")
    def shown_envelopes(self, key: EncryptionKey) -> int:
        return int(getattr(key, "envelopes", 0))

    @display(description="First seen", ordering="first_seen_at")
    def first_seen(self, key: EncryptionKey) -> Any:
        return when(key.first_seen_at)

    @display(description="Activated", ordering="activated_at")
    def activated(self, key: EncryptionKey) -> Any:
        return when(key.activated_at)

    def badge_of(self, obj: EncryptionKey) -> Any:
        return _state(obj)

    def lead_of(self, obj: EncryptionKey) -> str:
        return _LEADS.get(State(obj.state), "")

    def panels(self, request: HttpRequest, obj: EncryptionKey) -> Iterable[Panel]:
        yield Panel("Key", list(_facts(obj)))
        if obj.state != State.DESTROYED:
            yield Panel(
                "Public key to register with Endl",
                note="It is no secret. Give Endl all of it, from the first dash to the last.",
                template="office/public_key.html",
                context={"pem": obj.public_pem},
            )
        yield Panel("What to do", note=_what_to_do(obj))


def _facts(key: EncryptionKey) -> Iterable[Fact]:
    small = f"{RECOMMENDED_BITS} are recommended: make a new pair and rotate."
    yield Fact("Fingerprint (SHA-256)", code(key.fingerprint), "Endl may show the beginning of it as keyId.")
    yield Fact("Bits", key.bits, small if key.bits < RECOMMENDED_BITS else "")
    yield Fact("Envelopes that need it", keys.needing(key).count())
    yield Fact("File of the private half", code(key.file), "Only the web process reads it.")
    yield Fact("First seen", when(key.first_seen_at))
    yield Fact("Activated", when(key.activated_at))
    yield Fact("Retired", when(key.retired_at))
    yield Fact("Destroyed", when(key.destroyed_at), key.destroyed_by)


def _what_to_do(key: EncryptionKey) -> str:
    short = key.fingerprint[:16]
    if key.state == State.PENDING:
        return f"Register it with Endl. As soon as Endl uses it, run: manage.py keys --activate {short}"
    if key.state == State.ACTIVE:
        return "Endl must have this key, or it refuses to issue cards. To rotate, see docs/operations.md."
    if key.state == State.DESTROYED:
        return f"Destroy its file, if it is still there: shred -u {key.file}"
    reason = keys.why_not_destroy(key)
    if reason:
        return f"Keep it. {reason}"
    return f"Nothing needs it any more. Run: manage.py keys --destroy {short}"


def _state(key: EncryptionKey) -> Any:
    return badge(key.state, key.get_state_display(), tone=_TONES.get(State(key.state), ""))


def _files() -> Iterable[Panel]:
    """What this web process finds at the configured paths now."""
    rows = [
        (code(str(file.path)), code(file.key.fingerprint[:16] + "…") if file.key else "—", _health(file))
        for file in keyring.key_files()
    ]
    yield Panel(
        "Files of private keys",
        note="As the web process reads them now, the current one first. A change is noticed in seconds.",
        table=Table(("File", "Fingerprint", "Can it be used?"), rows),
        empty=keyring.NO_FILES,
    )
    if settings.ENDL_PRIVATE_KEY_FILES and (stray := keys.of_no_known_key().count()):
        yield Panel(
            "Envelopes of an unknown key",
            note=f"{stray} envelopes name no key of this table. The one that opens it is kept with each.",
        )


def _health(file: keyring.KeyFile) -> Any:
    if file.key is None:
        return file.problem
    return file.warning or badge("usable", "Yes", tone="good")
