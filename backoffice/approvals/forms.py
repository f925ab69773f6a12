"""The forms of decisions: what was seen, why, and the second factor where it is not fresh."""

from typing import Any, ClassVar

from django import forms
from unfold.widgets import UnfoldBooleanWidget

from backoffice.approvals import limits
from backoffice.approvals.models import Decision
from backoffice.pages.fields import LongText
from backoffice.pages.forms import ActForm


class VerdictForm(ActForm):
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
        self.fields["seen"].initial = self.shown_hash()

    def shown_hash(self) -> str:
        """The hash of what is on the page."""
        raise NotImplementedError(f"{type(self).__name__} shows nothing.")

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        verdict = self.data.get("verdict", "")
        if verdict not in Decision.Verdict.values:
            raise forms.ValidationError("Choose to approve or to reject.")
        if verdict == Decision.Verdict.REJECT and not cleaned.get("reason") and "reason" not in self.errors:
            self.add_error("reason", "Say why you reject it: the maker will read it.")
        return {**cleaned, "verdict": verdict}


class DecideForm(VerdictForm):
    """Decides on a request."""

    def shown_hash(self) -> str:
        if self.about is None or self.about.approval is None:
            return ""
        return str(self.about.approval.facts_hash)


class DecideRulesForm(VerdictForm):
    """Decides on proposed rules."""

    def shown_hash(self) -> str:
        return str(self.about.proposed_hash)


class DecideRaiseForm(VerdictForm):
    """Decides on the raise of a personal limit."""

    def shown_hash(self) -> str:
        return limits.seen_hash(self.about)


class CommentForm(ActForm):
    """Asks for a comment."""

    text = LongText(label="Comment", max_length=1000)


class ConfirmManyForm(ActForm):
    """Confirms a choice of many, as it was shown."""

    needs_step_up = True

    leave_out_looks = forms.BooleanField(
        label="Leave out what deserves a look as well", required=False, widget=UnfoldBooleanWidget()
    )
    reason = LongText(
        label="Reason", max_length=500, required=False, rows=2, help_text="Kept with every decision."
    )


class GoOnForm(ActForm):
    """Goes on with a confirmed choice; asks for the factor where its proof ran out in between."""

    needs_step_up = True
