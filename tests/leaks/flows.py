"""Everything that card data goes through, played on the running office, with mistakes and holes in each."""

import base64
import hmac
import json
import secrets
import sqlite3
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import requests
from django.db import DatabaseError
from django.utils import timezone

from backoffice.access import roles
from backoffice.access.models import User
from backoffice.delivery import bell, raw
from backoffice.delivery.models import Attempt, RawAnswer
from backoffice.endl import Answer
from backoffice.mirror.models import Pull
from cards import customers, review, sync, tasks
from cards.models import Card, Cardholder, CardholderReview, CardOrder, Customer, SealedDetails
from funding import wallets
from funding.models import Deposit, WebhookEvent
from tests.leaks import holes
from tests.leaks.canaries import Canary, a_canary
from tests.leaks.clerk import Clerk
from tests.leaks.office import Office
from tests.people import PASSWORD, a_person
from tests.wishes import a_deposit, an_order

PEOPLE = {
    "manager": [roles.MANAGER],
    "maker": [roles.FINANCE_MAKER],
    "checker": [roles.FINANCE_CHECKER],
    "compliance": [roles.COMPLIANCE],
    "auditor": [roles.AUDITOR],
    "administrator": [roles.ADMINISTRATOR],
}
BUSINESS = "cus_leaks"
_EVENT_HOLE, _IN_WORDS = "after the event was verified", "; in words"
# How the answer to an order is spoiled: its card exists all the same, and nobody may ever see its number.
SPOILT: tuple[dict[str, Any], ...] = (
    {"kind": "truncate", "at": 0.5},
    {"kind": "close", "when": "after"},
    *({"kind": "mutate", "field": "encryptedDetails", "mutation": how}
      for how in ("list", "object", "number", "empty", "huge", "null")),
    {"kind": "mutate", "field": "cardId", "mutation": "absent"},
    {"kind": "mutate", "field": "last4", "mutation": "null"},
)  # fmt: skip


@dataclass
class Story:
    """What was played: enough of it to tell a scan that found nothing from one that did nothing."""

    told: dict[str, int] = field(default_factory=dict)

    def add(self, what: str, count: int = 1) -> None:
        self.told[what] = self.told.get(what, 0) + count


class Flows:
    """The acts of one run."""

    def __init__(self, office: Office, *, orders: int, pages: Path) -> None:
        self.office, self.orders, self.pages = office, orders, pages
        self.story = Story()
        self.planted: list[Canary] = []
        self.people: dict[str, User] = {}
        self._clerks: dict[str, Clerk] = {}

    def canary(self) -> Canary:
        """A number of our own, to be planted where none belongs."""
        self.planted.append(a_canary())
        return self.planted[-1]

    def every_canary(self) -> list[Canary]:
        """Those that we planted, and those of all cards that the emulator made, the lost ones included."""
        with sqlite3.connect(self.office.apart / "world.sqlite3") as world:
            rows = world.execute("SELECT number, json_extract(doc, '$.cvv') FROM details").fetchall()
        return [*self.planted, *(Canary(number, cvv) for number, cvv in rows)]

    # --- The ground -----------------------------------------------------------------------------------

    def hire(self) -> None:
        for name, held in PEOPLE.items():
            self.people[name] = a_person(name, *held)

    def open_books(self) -> Cardholder:
        """A business with a wallet and a cardholder whom compliance approved."""
        now, manager = timezone.now(), self.people["manager"]
        self.office.ask(
            "seed",
            customers=[{"customerId": BUSINESS, "name": "Harbour & Sons"}],
            cardholders=[{"cardholderId": "chd_leaks", "customerId": BUSINESS, "firstName": "Nadia",
                          "lastName": "Berg"}],
            wallets=[{"walletId": "wlt_leaks", "customerId": BUSINESS, "chain": "base", "currency": "USDC",
                      "balance": "10000.00", "label": "Treasury"}],
        )  # fmt: skip
        business = customers.add_customer(
            endl_id=BUSINESS, name="Harbour & Sons", type=Customer.Type.BUSINESS, by=manager, now=now
        )
        self.wallet = wallets.add_wallet(
            customer=business, endl_id="wlt_leaks", label="Treasury", chain="base", currency="USDC",
            by=self.people["maker"], now=now,
        )  # fmt: skip
        self.sync(business)
        holder = Cardholder.objects.get(endl_id="chd_leaks")
        review.review_cardholder(
            cardholder=holder, verdict=CardholderReview.Verdict.APPROVED, reason="",
            by=self.people["compliance"], now=now,
        )  # fmt: skip
        self.business, self.holder = business, Cardholder.objects.get(pk=holder.pk)
        return self.holder

    def sync(self, business: Customer) -> None:
        from backoffice.connections import open_endl

        sync.sync_cardholders(customer=business, endl=open_endl(), by="system: leaks", now=timezone.now())

    # --- Issuing --------------------------------------------------------------------------------------

    def ask_for_cards(self) -> None:
        """Orders, and their bells, while no worker listens: the messages lie in the broker for the scan."""
        for _ in range(self.orders):
            order = an_order(self.holder, by=self.people["manager"], now=timezone.now(), cents=100)
            assert order.state == "approved", f"an order of one dollar is {order.state}"
            bell.ring(tasks.SEND_ORDER, order.pk)
        self.story.add("cards asked for", self.orders)

    def spoil_answers(self) -> None:
        """Faults for the next orders, one each, and one answer that tells the number in its message."""
        for fault in SPOILT:
            self.office.ask("faults", operation="issue_card", **fault)
        for kind in (400, 422, 500):
            told = self.canary()
            said = f"card {told.number} with cvv {told.cvv} was not accepted"
            body = {"code": kind, "message": said, "status": "ERROR", "data": {"number": told.number},
                    "errors": [{"code": "ERRCRD_1006", "message": said, "field": told.number}]}  # fmt: skip
            self.office.ask("faults", operation="issue_card", kind="status", code=kind, body=body)
        self.story.add("spoilt answers", len(SPOILT) + 3)

    def wait_for_cards(self, seconds: float) -> None:
        """Wait until every order has come to an end, or is a person's to end."""
        end = time.monotonic() + seconds
        waiting = CardOrder.objects.filter(state__in=("approved", "sending"))
        while waiting.exists() and time.monotonic() < end:
            time.sleep(0.5)
        self.story.add("orders that never ended", waiting.count())
        self.story.add("envelopes received", SealedDetails.objects.count())

    def break_the_worker(self) -> None:
        """A few orders more and a sync, for each hole in the worker."""
        for hole in holes.WORKER:
            for how in ("", _IN_WORDS):
                self.office.hole.write_text(f"{hole}{how}")
                order = an_order(self.holder, by=self.people["manager"], now=timezone.now(), cents=200)
                bell.ring(tasks.SEND_ORDER, order.pk)
                bell.ring(tasks.SYNC_CARDHOLDERS, self.business.pk)
                time.sleep(1.0)
                self.story.add("holes in the worker")
        self.office.hole.unlink()

    # --- Mistakes of Endl's ---------------------------------------------------------------------------

    def mistaken_lists(self) -> None:
        """A list and its objects with numbers where none belong: under telling names, and in any text."""
        a, b, c, d = (self.canary() for _ in range(4))
        grouped = " ".join(b.number[at : at + 4] for at in range(0, 16, 4))
        self.office.ask(
            "seed",
            cardholders=[{
                "cardholderId": "chd_odd", "customerId": BUSINESS, "firstName": "Omar",
                "lastName": f"Diaz {grouped}", "email": f"{c.number}@example.com",
                "note": f"card {a.number} cvv {a.cvv}", "ref": int(d.number), "number": a.number,
                "cvv": a.cvv, a.number: "a name", "nested": {"deep": [{"pan": b.number, "x": b.number}]},
                "status": f"blocked {c.number}",
            }],
            cards=[{
                "cardId": "crd_odd", "cardholderId": "chd_odd", "type": "scoped", "last4": a.number,
                "number": a.number, "cvv": a.cvv, "amountInUSDCents": 100, "status": f"used {b.number}",
                "expiryMonth": 1, "expiryYear": 2031, "label": f"number {d.number}",
                "createdAt": "2026-01-01T00:00:00Z",
            }],
        )  # fmt: skip
        self.sync(self.business)
        self.story.add("mistaken objects", Card.objects.filter(endl_id="crd_odd").count())

    def mistaken_events(self) -> None:
        """Webhooks and deposits that tell a number."""
        a, b = self.canary(), self.canary()
        told = f"card {a.number} (cvv {a.cvv}) declined"
        deposit = {
            "depositId": "cdp_odd", "customerId": BUSINESS, "status": "failed", "method": "endl_account",
            "walletId": "wlt_leaks", "amount": {"amount": "1.00", "currency": "USDC"}, "chain": "base",
            "failureReason": {"text": told, "number": b.number}, "createdAt": "2026-01-01T00:00:00Z",
            "fees": [], "card": {"number": a.number, "cvv": a.cvv, "text": f"{b.number}"}, "memo": told,
        }  # fmt: skip
        for kind in ("card_deposit.failed", f"card.{a.number}", "card.issued"):
            self.office.ask("webhook", type=kind, data=deposit)
        for hole in ("", _EVENT_HOLE, f"{_EVENT_HOLE}{_IN_WORDS}"):
            self._deliver(deposit, hole)
        self.office.ask("seed", deposits=[deposit])
        a_deposit(self.wallet, by=self.people["maker"], now=timezone.now())
        time.sleep(2)
        self.story.add("mistaken events", 3)

    def _deliver(self, data: dict[str, Any], hole: str) -> None:
        """Send an event as Endl would, signed by the scheme of Standard Webhooks."""
        name, stamp = f"evt_{secrets.token_hex(8)}", str(int(time.time()))
        body = json.dumps({"id": name, "type": "card_deposit.failed", "createdAt": "", "data": data}).encode()
        digest = hmac.new(self.office.webhook_key, f"{name}.{stamp}.".encode() + body, "sha256").digest()
        headers = {
            "webhook-id": name, "webhook-timestamp": stamp, holes.HEADER: hole,
            "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
            "Content-Type": "application/json",
        }  # fmt: skip
        answer = requests.post(f"{self.office.url}/webhooks/endl/", body, headers=headers, timeout=30)
        self.story.add(
            "events that broke" if hole else "events delivered", answer.status_code == (500 if hole else 202)
        )

    # --- Looking --------------------------------------------------------------------------------------

    def open_masks(self, most: int) -> None:
        """Let the server read last four and expiry where the answer did not say them."""
        clerk = self.clerk("manager")
        SealedDetails.objects.filter(pk__in=self._kept()[:most]).update(
            last4="", exp_month=None, exp_year=None
        )
        for card in self._cards(self._kept()[:most]):
            Card.objects.filter(pk=card.pk).update(last4="", exp_month=None, exp_year=None)
            page = f"/admin/cards/card/{card.pk}/"
            answer = clerk.post(f"{page}open-mask/", {}, page=page)
            self.story.add("masks opened", answer.ok)
        assert Pull.objects.exists()

    def look(self, most: int) -> None:
        """Reveal cards, their codes too, and end each look."""
        clerk = self.clerk("manager")
        numbers = {canary.number for canary in self.every_canary()}
        for card in self._cards(self._kept()[:most]):
            answer = self._reveal(clerk, card)
            told = answer.json() if answer.ok else {}
            self.story.add("cards revealed", told.get("pan") in numbers)
            page = f"/admin/cards/card/{card.pk}/reveal/"
            for door, given in (
                ("cvv", {}),
                ("longer", {}),
                ("copied", {"field": "number"}),
                ("ended", {"ending": "person"}),
            ):
                clerk.post(
                    f"{page}{door}/", {"token": told.get("token", ""), **given}, page=page, script=True
                )

    def look_into_holes(self) -> None:
        """Reveal while something breaks, once for each hole, with and without the data in the words."""
        clerk = self.clerk("manager")
        places = [(hole, how) for hole in holes.WEB for how in ("", _IN_WORDS) if hole != _EVENT_HOLE]
        for card, (hole, how) in zip(self._cards(self._kept()[-len(places) :]), places, strict=False):
            answer = self._reveal(clerk, card, hole=f"{hole}{how}")
            self.story.add("looks that broke", answer.status_code >= 400)

    def _reveal(self, clerk: Clerk, card: Card, hole: str = "") -> Any:
        given = {"kind": "payment", "reason": "The invoice of today", "factor": PASSWORD}
        return clerk.post(f"/admin/cards/card/{card.pk}/reveal/", given, hole=hole, script=True)

    def careless_people(self) -> None:
        """Numbers typed where none belong: in forms, searches and addresses."""
        told, clerk = self.canary(), self.clerk("manager")
        for address in ("cards/card", "cards/cardholder", "audit/entry", "cards/cardorder"):
            clerk.session.get(f"{clerk.url}/admin/{address}/?q={told.number}", timeout=30)
        clerk.session.post(
            f"{clerk.url}/accounts/login/", data={"login": told.number, "password": told.number}, timeout=30
        )
        other = {"purpose": f"for card {told.number}", "amount": "1.00", "cardholder": str(self.holder.pk)}
        # The form that comes back shows what was typed, to the person who typed it: not kept.
        form = clerk.get("/admin/cards/cardorder/add/")
        token = form.text.partition('name="csrfmiddlewaretoken" value="')[2].partition('"')[0]
        clerk.session.post(
            form.url, data={**other, "csrfmiddlewaretoken": token}, headers={"Referer": form.url}, timeout=30
        )
        self.story.add("numbers typed by people", 6)

    def destroy(self) -> None:
        """One card's details at once, and a report."""
        card = next(iter(self._cards(self._kept()[:1])))
        page = f"/admin/cards/card/{card.pk}/destroy-details/"
        self.clerk("manager").post(page, {"reason": "The scan wants it", "factor": PASSWORD})
        self.office.manage("retention_report")
        self.story.add("details destroyed", SealedDetails.objects.exclude(destroyed_at=None).count())

    def spool(self) -> None:
        """An answer with an envelope, kept while the database is away."""
        # Of an order that is not here, so that no sweep takes it in before the scan comes by.
        attempt = Attempt(kind=CardOrder.kind, request_id=10**9, number=1)
        envelope = {"encryptedDetails": {"ciphertext": "QUJD"}, "cardId": "crd_spooled"}
        away = patch.object(RawAnswer.objects, "get_or_create", side_effect=DatabaseError)
        with away, suppress(DatabaseError):
            raw.keep(attempt, Answer(201, json.dumps(envelope).encode(), {}))
        self.story.add("spooled answers", len(list((self.office.folder / "spool").glob("*.sealed"))))

    def cards_to_show(self, most: int) -> list[Card]:
        """Cards whose details are kept and that nobody has looked at."""
        return [card for card in self._cards(self._kept()) if not card.order.details.reveals.exists()][:most]

    def odd_pages(self) -> list[str]:
        """The pages of everything that Endl mistakenly wrote a number into."""
        found = [("cards/card", Card.objects.filter(endl_id="crd_odd")),
                 ("cards/cardholder", Cardholder.objects.filter(endl_id="chd_odd")),
                 ("funding/webhookevent", WebhookEvent.objects.all()[:6]),
                 ("funding/deposit", Deposit.objects.all()[:3]),
                 ("cards/cardorder", CardOrder.objects.exclude(outcome_message="")[:6])]  # fmt: skip
        return [f"/admin/{path}/{row.pk}/" for path, rows in found for row in rows]

    def clerk(self, name: str) -> Clerk:
        """A person at the pages; the same session for the whole run."""
        if name not in self._clerks:
            self._clerks[name] = Clerk(name, self.office.url, self.pages)
        return self._clerks[name]

    def _kept(self) -> list[int]:
        kept = SealedDetails.objects.filter(destroyed_at=None, quarantined_at=None, order__card__isnull=False)
        return list(kept.order_by("pk").values_list("pk", flat=True))

    def _cards(self, details: list[int]) -> list[Card]:
        return list(Card.objects.filter(order__details__in=details).order_by("order__details"))
