"""The trail is only ever added to."""

from backoffice.triggers import Trigger

TRIGGERS = (
    Trigger("entry_stays_as_it_is", "audit_entry", "UPDATE", "OLD.id IS NOT NULL", "the trail never changes"),
    Trigger("entry_stays", "audit_entry", "DELETE", "OLD.id IS NOT NULL", "the trail stays"),
)
