"""The six roles, and what each may do: groups made and kept by code.

`keep_roles` runs after every migrate, so the database says what this table says. Nobody edits a role by
hand; people are put into roles.
"""

from collections.abc import Iterable
from typing import Any

from django.conf import settings

MANAGER = "manager"
FINANCE_MAKER = "finance maker"
FINANCE_CHECKER = "finance checker"
COMPLIANCE = "compliance"
AUDITOR = "auditor"
ADMINISTRATOR = "administrator"

_SEES_CARDS = (
    "cards.view_customer",
    "cards.view_cardholder",
    "cards.view_card",
    "cards.view_cardorder",
    "cards.view_cardholderrequest",
    "cards.view_cardholderreview",
)
_SEES_MONEY = (
    "cards.view_customer",
    "funding.view_wallet",
    "funding.view_depositrequest",
    "funding.view_deposit",
    "funding.view_withdrawal",
)
_SEES_ROAD = (
    "delivery.view_attempt",
    "delivery.view_pause",
    "delivery.view_hold",
    "delivery.view_alert",
    "mirror.view_pull",
    "mirror.view_read",
)
_SEES_RULES = (
    "approvals.view_ruleset",
    "approvals.view_rulesetchange",
    "approvals.view_limit",
    "approvals.view_limitchange",
)
# What whoever decides looks at: the queue, their own approvals of many, the rules, their own limits.
_DECIDES = (
    "approvals.view_approval",
    "approvals.view_bulkrun",
    "approvals.view_ruleset",
    "approvals.view_limit",
    "approvals.add_comment",
)
_SYNCS = ("cards.add_customer", "cards.change_customer", "cards.sync_customer")

ROLES: dict[str, tuple[str, ...]] = {
    MANAGER: (
        *_SEES_CARDS,
        *_SYNCS,
        "cards.add_cardholderrequest",
        "cards.add_cardorder",
        "cards.open_mask",
        "cards.reveal_card",
        "cards.destroy_details",
        "approvals.add_comment",
    ),
    FINANCE_MAKER: (
        *_SEES_MONEY,
        *_SYNCS,
        "funding.add_wallet",
        "funding.change_wallet",
        "funding.add_depositrequest",
        "funding.add_withdrawal",
        "approvals.add_comment",
        *_SEES_ROAD,
    ),
    FINANCE_CHECKER: (
        *_SEES_MONEY,
        "cards.sync_customer",
        "cards.view_cardorder",
        "cards.view_cardholderrequest",
        "cards.view_cardholder",
        "cards.view_card",
        "funding.view_webhookevent",
        *_DECIDES,
        "approvals.decide_deposits",
        "approvals.decide_card_orders",
        "funding.add_withdrawal",
        "delivery.record_outcome",
        "delivery.add_hold",
        *_SEES_ROAD,
    ),
    COMPLIANCE: (
        *_SEES_CARDS,
        "cards.sync_customer",
        "cards.add_cardholderreview",
        "cards.view_cardreveal",
        "cards.view_sealeddetails",
        "cards.destroy_details",
        "cards.view_retentionreport",
        "cards.add_retentionreport",
        "cards.view_every_customer",
        *_DECIDES,
        "approvals.decide_as_compliance",
        "approvals.view_decisionfigures",
        "delivery.view_hold",
        "delivery.add_hold",
        "delivery.view_alert",
        "audit.view_entry",
    ),
    AUDITOR: (
        *_SEES_CARDS,
        *_SEES_MONEY,
        *_SEES_ROAD,
        "cards.view_every_customer",
        "cards.view_assignment",
        "cards.view_cardreveal",
        "cards.view_sealeddetails",
        "cards.view_retentionreport",
        "cards.view_encryptionkey",
        "funding.view_webhookevent",
        "approvals.view_approval",
        "approvals.view_bulkrun",
        "approvals.view_decision",
        "approvals.view_decisionfigures",
        *_SEES_RULES,
        "audit.view_entry",
        "access.view_user",
    ),
    ADMINISTRATOR: (
        "access.view_user",
        "access.add_user",
        "access.change_user",
        "cards.view_customer",
        "cards.view_every_customer",
        "cards.view_assignment",
        "cards.add_assignment",
        "cards.delete_assignment",
        "cards.view_encryptionkey",
        "cards.view_retentionreport",
        *_SEES_RULES,
        "approvals.view_decisionfigures",
        "approvals.change_rules",
        "approvals.change_limits",
        "delivery.change_pause",
        "delivery.add_hold",
        *_SEES_ROAD,
    ),
}

# In no role by itself: copying a card's details to the clipboard, where other programs can read them.
COPY_DETAILS = "cards.copy_details"

# People who hold both seats of such a pair can do alone what takes two.
TOXIC_PAIRS: tuple[tuple[str, str], ...] = (
    (FINANCE_MAKER, FINANCE_CHECKER),
    (MANAGER, COMPLIANCE),
    (MANAGER, FINANCE_CHECKER),
)


def toxic_pairs_of(role_names: Iterable[str]) -> list[tuple[str, str]]:
    """Name the pairs among these roles that one person should not hold together."""
    held = set(role_names)
    return [pair for pair in TOXIC_PAIRS if held.issuperset(pair)]


def keep_roles(**_kwargs: Any) -> None:
    """Make the groups and their permissions what ROLES says. Safe to run at any time."""
    from django.contrib.auth.models import Group, Permission

    known = {
        f"{app}.{codename}": pk
        for pk, app, codename in Permission.objects.values_list("pk", "content_type__app_label", "codename")
    }
    for name, wanted in ROLES.items():
        group, _ = Group.objects.get_or_create(name=name)
        given = (*wanted, COPY_DETAILS) if name in settings.CARD_COPY_ROLES else wanted
        # Before the last application has migrated, some permissions are not there yet.
        group.permissions.set([known[perm] for perm in given if perm in known])
