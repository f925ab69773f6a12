"""What a deposit's dossier tells of its parties, and the checks that only this application can make."""

from backoffice.approvals.checks import Check, Tells, Told
from backoffice.delivery import holds
from backoffice.delivery.models import Hold
from funding import deposits
from funding.models import DepositRequest


def tell(wish: DepositRequest) -> Tells:
    """Who a deposit is for, from where, and whether it could be sent at all."""
    wallet, customer = wish.wallet, wish.wallet.customer
    return Tells(
        parties=(
            Told("Customer", customer.name, f"{customer.endl_id}, {customer.get_type_display().lower()}"),
            Told("From wallet", str(wallet), f"{wallet.endl_id}, {wallet.get_source_display().lower()}"),
            Told(
                "Chain", wish.chain or wallet.chain or "Not known", "" if wish.chain else "the wallet's own"
            ),
            Told("Note", wish.note or "None"),
            Told("Requested by", str(wish.maker)),
        ),
        checks=(_can_be_used(wish), _is_known(wish), _is_not_held()),
    )


def _can_be_used(wish: DepositRequest) -> Check:
    if reason := deposits.why_no_deposit(wish.wallet):
        return Check("Customer and wallet", "stop", reason)
    return Check("Customer and wallet", "pass", "Both are in use, and the wallet has a currency.")


def _is_known(wish: DepositRequest) -> Check:
    if wish.wallet.customer.is_known is None:
        return Check("Known to Endl", "look", "Endl has not said yet that it knows this customer.")
    return Check("Known to Endl", "pass", "Endl has answered for this customer.")


def _is_not_held() -> Check:
    if holds.is_held(Hold.Scope.MONEY):
        return Check("Hold", "look", "Money is held: what is approved waits until the hold is lifted.")
    return Check("Hold", "pass", "Nobody holds money back.")
