"""The form of a decision: what was seen, why, and the second factor where it is not fresh."""

from typing import Any, ClassVar

from django import forms

from backoffice.approvals.models import Decision
from backoffice.pages.fields import LongText
from backoffice.pages.forms import ActForm


class DecideForm(ActForm):
    """Two buttons, one form. The hidden hash binds the decision to what is on the page."""

    needs_step_up = True
    verdicts: ClassVar[tuple[tuple[str, str, str], ...]] = (
        (Decision.Verdict.APPROVE, "Approve", "primary"),
        (Decision.Verdict.REJECT, "Reject", "danger"),
    )

    seen = forms.CharField(max_length=64, widget=forms.HiddenInput)
    reason = LongText(
        label="Reason", max_length=500, required=False, help_text="Needed to reject. The maker reads it."
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.about is not None and self.about.approval is not None:
            self.fields["seen"].initial = self.about.approval.facts_hash

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        verdict = self.data.get("verdict", "")
        if verdict not in Decision.Verdict.values:
            raise forms.ValidationError("Choose to approve or to reject.")
        if verdict == Decision.Verdict.REJECT and not cleaned.get("reason") and "reason" not in self.errors:
            self.add_error("reason", "Say why you reject it: the maker will read it.")
        return {**cleaned, "verdict": verdict}
