"""The admin of what is Endl's: looked at, searched and filtered, never written by hand."""

import json
from typing import Any

from django.http import HttpRequest

from backoffice.mirror import lists_admin  # noqa: F401  (registers its pages)
from backoffice.mirror.models import Mirror, Pull
from backoffice.pages.objects import ObjectAdmin
from backoffice.pages.parts import Fact, Panel, badge, code, when


class MirrorAdmin(ObjectAdmin):
    """No adding, no changing, no deleting: only sync and deliveries write these rows."""

    # The kind of the pull that confirms these rows; see `Pull`.
    pull_kind: str = ""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def provenance(self, obj: Mirror) -> Panel:
        """Where the row comes from, and when it was last confirmed."""
        pull = Pull.objects.filter(kind=self.pull_kind, customer_endl_id=self.customer_endl_id(obj)).first()
        facts = [
            Fact("Endl id", code(obj.endl_id)),
            Fact("First seen", when(obj.first_seen_at)),
            Fact("Last changed", when(obj.changed_at)),
            Fact("Last confirmed", when(self.confirmed_at(obj, pull))),
        ]
        if obj.missing_since:
            facts.append(
                Fact("Missing at Endl", badge("missing", f"since {obj.missing_since:%Y-%m-%d %H:%M %Z}"))
            )
        if obj.contradiction:
            facts.append(Fact("Contradiction", badge("unknown", obj.contradiction)))
        if pull is not None and pull.trouble:
            facts.append(Fact("Last sync", f"Did not work: {pull.trouble}"))
        return Panel("As Endl last told it", facts)

    def as_it_came(self, obj: Mirror) -> Panel:
        """The whole object, as it came."""
        text = json.dumps(obj.payload, indent=2, ensure_ascii=False, sort_keys=True)
        return Panel("The whole object", template="office/payload.html", context={"payload": text})

    def customer_endl_id(self, obj: Any) -> str:
        """Whose list holds the row."""
        return str(obj.customer_endl_id)

    def confirmed_at(self, obj: Mirror, pull: Pull | None) -> Any:
        """The newest moment at which Endl told us this, as it stands."""
        moments = [obj.changed_at, pull.confirmed_at if pull and not obj.missing_since else None]
        return max(moment for moment in moments if moment is not None)
