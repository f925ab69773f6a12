"""What the office's templates cannot say by themselves."""

from typing import Any

from django import template
from django.forms import Form

from backoffice.pages.parts import Panel

register = template.Library()


@register.filter
def has_field_errors(form: Form) -> bool:
    """Whether a visible field has something to mend, so that a summary can lead to it."""
    return any(field.errors for field in form.visible_fields())


@register.filter
def are_open(embedded: list[Any]) -> bool:
    """Whether any of the acts that stand on the page can be done now."""
    return any(not entry.act.why_not for entry in embedded)


@register.filter
def is_wide(panel: Panel) -> bool:
    """Whether a panel needs the whole width: tables and bytes do, facts stand side by side."""
    return panel.table is not None or bool(panel.template)
