"""The money's part of the sample activity: wallets, and three months of deposits with some open today."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import cycle

from backoffice import endl as api
from backoffice.delivery import sender
from backoffice.practice.sample import Remembered, Sample
from cards.models import Customer
from funding import deposits, sync, wallets
from funding.models import Deposit, DepositRequest, Wallet

_NOTES = ("Travel cards", "Monthly top-up", "Software subscriptions", "Trade fair", "Supplier cards")


@dataclass(frozen=True)
class Wish:
    """One deposit that never came about, or not yet: what was asked for, and what became of it."""

    days: float
    wallet: str
    amount: str
    note: str
    fate: str
    reason: str = ""


_OTHERS = (
    Wish(61, "wlt_aurora_usd", "4800.00", "Trade fair", "rejected", "Pay this one from the treasury."),
    Wish(44, "wlt_birch_usdt", "1500.00", "Monthly top-up", "cancelled", "Asked for twice."),
    Wish(37, "wlt_aurora_usdc", "900.00", "Travel cards", "expired"),
    Wish(21, "wlt_dana_usdc", "9500.00", "Equipment", "sent"),
    Wish(9, "wlt_birch_usdt", "12500.00", "Supplier cards", "rejected", "The invoice is for 1,250."),
    Wish(0.15, "wlt_dana_usdc", "4200.00", "Equipment", "sent"),
    Wish(0.04, "wlt_aurora_usdc", "2750.50", "Travel cards, next month", "waiting"),
    Wish(0.01, "wlt_birch_usdt", "640.00", "Software subscriptions", "waiting"),
)


def make(sample: Sample) -> int:
    """Make wallets and deposits. Returns how many requests there are."""
    _add_wallets(sample)
    _sync(sample)
    _ask_for_what_came(sample)
    for number, wish in enumerate(_OTHERS):
        _ask_for_another(sample, number, wish)
    _sync(sample)
    return DepositRequest.objects.count()


def _add_wallets(sample: Sample) -> None:
    known = set(Wallet.objects.values_list("endl_id", flat=True))
    for seed in sample.world["wallets"]:
        if seed["walletId"] not in known:
            wallets.add_wallet(
                customer=Customer.objects.get(endl_id=seed["customerId"]),
                endl_id=seed["walletId"],
                label=seed["label"],
                chain=seed["chain"],
                currency=seed["currency"],
                by=sample.by("maker"),
                now=sample.ago(days=91),
            )


def _sync(sample: Sample) -> None:
    for customer in Customer.objects.filter(is_active=True):
        sync.sync_deposits(customer=customer, endl=sample.endl, by="system: sample", now=sample.now)
        sync.sync_withdrawals(customer=customer, endl=sample.endl, by="system: sample", now=sample.now)
        deposits.settle_ended(customer=customer, by="system: sample", now=sample.now)


def _ask_for_what_came(sample: Sample) -> None:
    """Give each deposit that was paid from a wallet the request that it came from."""
    came = Deposit.objects.filter(method="endl_account", request=None, wallet__isnull=False).order_by(
        "created_at"
    )
    for deposit, note in zip(came.select_related("wallet__customer"), cycle(_NOTES), strict=False):
        assert deposit.wallet is not None
        assert deposit.amount is not None
        moment = deposit.created_at or sample.now
        wish = _request(
            sample,
            deposit.wallet,
            deposit.amount,
            note=note,
            token=deposit.endl_id,
            moment=moment - timedelta(hours=3),
        )
        _approve(sample, wish, moment - timedelta(minutes=20))
        _deliver(wish, Remembered.line(deposit.payload), moment)


def _ask_for_another(sample: Sample, number: int, wish: Wish) -> None:
    moment = sample.ago(days=wish.days)
    wallet = Wallet.objects.select_related("customer").get(endl_id=wish.wallet)
    made = _request(sample, wallet, Decimal(wish.amount), note=wish.note, token=str(number), moment=moment)
    if made.state != "requested":
        return
    match wish.fate:
        case "rejected":
            _reject(sample, made, wish.reason, moment + timedelta(minutes=50))
        case "cancelled":
            by, now = sample.by("maker"), moment + timedelta(minutes=5)
            deposits.cancel_deposit(request=made, by=by, reason=wish.reason, now=now)
        case "expired" | "sent":
            _approve(sample, made, moment + timedelta(minutes=30))
            late = timedelta(hours=26) if wish.fate == "expired" else timedelta(minutes=31)
            _deliver(made, sample.endl, moment + late)


def _request(
    sample: Sample, wallet: Wallet, amount: Decimal, *, note: str, token: str, moment: datetime
) -> DepositRequest:
    return deposits.request_deposit(
        wallet=wallet,
        amount=amount,
        chain="",
        note=note,
        form_token=f"sample-deposit-{token}",
        by=sample.by("maker"),
        now=moment,
    )


def _approve(sample: Sample, wish: DepositRequest, moment: datetime) -> None:
    assert wish.approval is not None
    seen = wish.approval.facts_hash
    # A large one needs a second checker.
    for minute, name in enumerate(("checker", "checker2")):
        if wish.state == "requested":
            when = moment + timedelta(minutes=minute)
            deposits.approve_deposit(request=wish, by=sample.by(name), seen=seen, now=when)


def _reject(sample: Sample, wish: DepositRequest, reason: str, moment: datetime) -> None:
    assert wish.approval is not None
    seen = wish.approval.facts_hash
    deposits.reject_deposit(request=wish, by=sample.by("checker"), seen=seen, reason=reason, now=moment)


def _deliver(wish: DepositRequest, endl: api.Client, moment: datetime) -> None:
    sender.deliver(deposits.ROAD, wish.pk, endl=endl, clock=lambda: moment)
