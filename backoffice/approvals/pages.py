"""The dossier as panels, for every page that shows a request beside its decision."""

from collections.abc import Iterable
from datetime import datetime

from django.urls import reverse

from backoffice.access.models import User
from backoffice.approvals import dossiers
from backoffice.approvals.models import Approval
from backoffice.pages.parts import Panel

PERMISSION = "approvals.view_approval"


def dossier_panels(
    approval: Approval, person: User, *, now: datetime, is_beside: bool = False
) -> Iterable[Panel]:
    """The dossier for who may see approvals; for everybody else, what was written about the request.

    Args:
        is_beside: whether the page shows by itself what is sent, so that the dossier need not.
    """
    if person.has_perm(PERMISSION):
        content = dossiers.build(approval, now=now)
        yield Panel(
            "Dossier",
            template="office/approvals/dossier_panel.html",
            context={"dossier": content, "is_beside": is_beside},
            more=("Print or download", reverse("admin:approvals_approval_dossier", args=(approval.pk,))),
        )
        return
    written = [
        {"person": str(each.person), "text": each.text, "at": each.made_at.isoformat()}
        for each in dossiers.comments_of(approval)
    ]
    if written:
        yield Panel(
            "Comments", template="office/approvals/comments_panel.html", context={"comments": written}
        )
