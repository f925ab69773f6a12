"""Writing rules on a page: a draft of ordered rules that is added to, moved and checked without a script."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from unfold import widgets

from backoffice.approvals import books, rules, soundness
from backoffice.approvals.rules import MOST_PEOPLE, MOST_RULES, MOST_STEPS, Rule
from backoffice.money import NotAnAmount, parse_amount, plain
from backoffice.pages.fields import LongText, PlainText
from backoffice.pages.forms import ActForm

# So many running totals one rule may have on the page; more where the active rules have more.
TOTALS = 3
Raw = dict[str, str]


class AmountField(forms.CharField):
    """An amount in plain digits, zero included; blank leaves the end of a range open."""

    def __init__(self, **kwargs: Any) -> None:
        widget = widgets.UnfoldAdminTextInputWidget(attrs={"inputmode": "decimal", "autocomplete": "off"})
        super().__init__(max_length=30, required=False, widget=widget, **kwargs)

    def clean(self, value: Any) -> Decimal | None:
        text = super().clean(value)
        if not text or text.strip("0.") == "":
            return Decimal(0) if text else None
        try:
            return parse_amount(text, places=6)
        except NotAnAmount as problem:
            raise ValidationError(str(problem)) from None


class RuleForm(forms.Form):
    """One rule: its conditions, its running totals and its steps."""

    def __init__(self, *args: Any, totals: int = TOTALS, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        kinds = [book.kind for book in books.all_books()]
        roles = sorted({role for book in books.all_books() for role in book.roles})
        self.totals = range(totals)
        self.fields["name"] = PlainText(label="Name", max_length=100, required=False)
        self.fields["kind"] = _choice(
            "Kind", [("", "Any kind"), *((kind, kind.replace("_", " ").capitalize()) for kind in kinds)]
        )
        self.fields["currency"] = _text("Currency", 12, placeholder="USDC")
        self.fields["least"] = AmountField(label="Amount from")
        self.fields["most"] = AmountField(label="Amount up to")
        self.fields["is_first"] = _choice(
            "Wallet", [("", "Used before or not"), ("yes", "Not used before"), ("no", "Used before")]
        )
        self.fields["customers"] = _text("Only customers", 1000, placeholder="cus_… cus_…")
        for slot in self.totals:
            self._add_total(slot)
        for slot in range(MOST_STEPS):
            self.fields[f"people{slot}"] = _whole("People", MOST_PEOPLE)
            self.fields[f"role{slot}"] = _choice(
                "Of the role", [("", "—"), *((role, role) for role in roles)]
            )

    def _add_total(self, slot: int) -> None:
        whose = [("", "—"), *((of, f"the {of}") for of in rules.WHOSE)]
        self.fields[f"of{slot}"] = _choice("Total of", whose)
        self.fields[f"hours{slot}"] = _whole("Over hours", rules.LONGEST_HOURS)
        self.fields[f"total_least{slot}"] = AmountField(label="Total from")
        self.fields[f"total_most{slot}"] = AmountField(label="Total up to")

    @property
    def basics(self) -> list[Any]:
        """The fields of the rule itself."""
        return [self[name] for name in ("name", "kind", "currency", "least", "most", "is_first", "customers")]

    @property
    def total_rows(self) -> list[list[Any]]:
        """The fields of each running total."""
        names = ("of", "hours", "total_least", "total_most")
        return [[self[f"{name}{slot}"] for name in names] for slot in self.totals]

    @property
    def step_rows(self) -> list[list[Any]]:
        """The fields of each step."""
        return [[self[f"people{slot}"], self[f"role{slot}"]] for slot in range(MOST_STEPS)]

    @property
    def has_totals(self) -> bool:
        """Whether anything stands in the fields of the running totals."""
        return any(field.value() for row in self.total_rows for field in row)

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        if not given.get("name") and "name" not in self.errors:
            self.add_error("name", "Give the rule a name.")
        for slot in self.totals:
            if bool(given.get(f"of{slot}")) != bool(given.get(f"hours{slot}")):
                self.add_error(f"hours{slot}", "A running total says whose it is, and over how many hours.")
        for slot in range(MOST_STEPS):
            if bool(given.get(f"people{slot}")) != bool(given.get(f"role{slot}")):
                self.add_error(f"people{slot}", "A step says how many people, and of which role.")
        return given

    def rule(self) -> Rule:
        """The rule that was written, once the form is valid."""
        given = self.cleaned_data
        return Rule(
            name=given["name"],
            kind=given["kind"],
            currency=given["currency"].strip(),
            least=given["least"],
            most=given["most"],
            customers=tuple(given["customers"].replace(",", " ").split()),
            is_first={"yes": True, "no": False}.get(given["is_first"]),
            totals=tuple(
                rules.Total(
                    given[f"of{slot}"],
                    given[f"hours{slot}"],
                    given[f"total_least{slot}"],
                    given[f"total_most{slot}"],
                )
                for slot in self.totals
                if given[f"of{slot}"]
            ),
            steps=tuple(
                rules.Step(given[f"people{slot}"], given[f"role{slot}"])
                for slot in range(MOST_STEPS)
                if given[f"people{slot}"]
            ),
        )


def _choice(label: str, choices: Sequence[tuple[str, str]]) -> forms.ChoiceField:
    return forms.ChoiceField(
        label=label, choices=choices, required=False, widget=widgets.UnfoldAdminSelectWidget()
    )


def _text(label: str, longest: int, *, placeholder: str) -> PlainText:
    widget = widgets.UnfoldAdminTextInputWidget(attrs={"placeholder": placeholder, "autocomplete": "off"})
    return PlainText(label=label, max_length=longest, required=False, widget=widget)


def _whole(label: str, most: int) -> forms.IntegerField:
    widget = widgets.UnfoldAdminTextInputWidget(attrs={"inputmode": "numeric", "autocomplete": "off"})
    return forms.IntegerField(label=label, min_value=1, max_value=most, required=False, widget=widget)


class ProposeForm(ActForm):
    """Which rules these replace, and why."""

    needs_step_up = True

    base = forms.IntegerField(widget=forms.HiddenInput, min_value=1, max_value=2**31 - 1)
    reason = LongText(label="Reason", max_length=500, help_text="The other administrator reads it.")


class Draft:
    """Rules as they stand on the page, in order: as text, whatever was typed."""

    def __init__(self, raws: Sequence[Raw], *, totals: int) -> None:
        self.raws, self.totals = list(raws), totals

    @classmethod
    def of_rules(cls, held: Sequence[Rule]) -> "Draft":
        """A draft that says what the rules say."""
        return cls([_raw(rule) for rule in held], totals=_slots(held))

    @classmethod
    def of_post(cls, given: Mapping[str, Any], held: Sequence[Rule]) -> "Draft":
        """What was posted, up to the most rules that there may be."""
        text = str(given.get("count") or "")
        count = min(int(text), MOST_RULES) if text.isascii() and text.isdigit() and len(text) < 4 else 0
        raws = [
            {
                name.removeprefix(f"r{number}-"): str(value)
                for name, value in given.items()
                if name.startswith(f"r{number}-")
            }
            for number in range(count)
        ]
        return cls(raws, totals=_slots(held))

    def change(self, what: str) -> None:
        """Add, remove or move a rule: "add", "remove-2", "up-2", "down-2". Anything else changes nothing."""
        verb, _, text = what.partition("-")
        if verb == "add" and len(self.raws) < MOST_RULES:
            self.raws.append({})
        place = int(text) if text.isascii() and text.isdigit() and len(text) < 4 else -1
        if not 0 <= place < len(self.raws):
            return
        if verb == "remove":
            del self.raws[place]
        other = place + {"up": -1, "down": 1}.get(verb, 0)
        if other != place and 0 <= other < len(self.raws):
            self.raws[place], self.raws[other] = self.raws[other], self.raws[place]

    def forms(self, *, bound: bool) -> list[RuleForm]:
        """A form for each rule, in order."""
        data = {
            f"r{number}-{name}": value for number, raw in enumerate(self.raws) for name, value in raw.items()
        }
        return [
            RuleForm(data if bound else None, initial=raw, prefix=f"r{number}", totals=self.totals)
            for number, raw in enumerate(self.raws)
        ]


def problems_of(written: Iterable[Rule]) -> list[str]:
    """What is wrong with rules that were written, one sentence each."""
    return soundness.problems(list(written), books.roles_by_kind())


def _slots(held: Sequence[Rule]) -> int:
    return max([TOTALS, *(len(rule.totals) for rule in held)])


def _raw(rule: Rule) -> Raw:
    raw = {
        "name": rule.name,
        "kind": rule.kind,
        "currency": rule.currency,
        "least": _typed(rule.least),
        "most": _typed(rule.most),
        "customers": " ".join(rule.customers),
        "is_first": {True: "yes", False: "no", None: ""}[rule.is_first],
    }
    for slot, total in enumerate(rule.totals):
        raw |= {
            f"of{slot}": total.of,
            f"hours{slot}": str(total.hours),
            f"total_least{slot}": _typed(total.least),
            f"total_most{slot}": _typed(total.most),
        }
    for slot, step in enumerate(rule.steps):
        raw |= {f"people{slot}": str(step.people), f"role{slot}": step.role}
    return raw


def _typed(amount: Decimal | None) -> str:
    return "" if amount is None else plain(amount)
