"""The forms of cards. What is not exactly right gets a sentence at its field, and nothing is guessed."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, ClassVar

from django import forms
from django.conf import settings
from django.contrib import admin
from django.contrib.admin.widgets import AutocompleteSelect
from django.utils import timezone
from unfold import widgets

from backoffice.access.models import User
from backoffice.delivery.models import State
from backoffice.money import NotAnAmount, dollars, parse_dollars
from backoffice.pages.fields import EndlId, LongText, PlainText
from backoffice.pages.forms import SHORT_LIST, ActForm, OperationForm, choice
from cards import assigning, customers, issuing, phones, registering, scope
from cards.models import Assignment, Cardholder, CardholderRequest, CardholderReview, CardOrder, Customer
from cards.models.requests import LARGEST_CENTS, SMALLEST_CENTS

_SAME_ORDER_WITHIN = timedelta(minutes=10)
_NOTHING_CAME_OF_IT = (State.REJECTED, State.CANCELLED, State.EXPIRED, State.REFUSED)


def _type_field() -> forms.ChoiceField:
    return forms.ChoiceField(
        label="Type",
        choices=[("", "Choose a type"), *Customer.Type.choices],
        widget=widgets.UnfoldAdminSelectWidget(),
        help_text="As Endl has it: only a business has cardholders.",
    )


class AddCustomerForm(OperationForm):
    """Add a customer by its Endl id."""

    submit_label = "Add customer"
    lead = "Endl is asked at once what it knows of the customer."
    refusal_fields = {"CustomerExists": "endl_id"}

    endl_id = EndlId(prefix="cus_", label="Endl id")
    name = PlainText(label="Name", max_length=200)
    type = _type_field()

    def perform(self, *, now: datetime) -> Customer:
        given = self.cleaned_data
        return customers.add_customer(
            endl_id=given["endl_id"], name=given["name"], type=given["type"], by=self.person, now=now
        )

    def done(self, made: Any) -> str:
        return f"{made} is added. Endl is being asked about it."


class ChangeCustomerForm(ActForm):
    """Change what we say of a customer; the id stays, since everything of Endl's hangs on it."""

    name = PlainText(label="Name", max_length=200)
    type = _type_field()
    is_active = forms.BooleanField(
        label="In use",
        required=False,
        help_text="Switched off, it is not synced and nothing can be requested for it.",
        widget=widgets.UnfoldBooleanSwitchWidget(),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("name", "type", "is_active"):
            self.fields[name].initial = getattr(self.about, name)


class AssignForm(OperationForm):
    """Let a person work for a customer."""

    submit_label = "Assign"
    lead = "A person sees the customers that they work for, and what belongs to them."
    refusal_fields = {"OwnAssignment": "user", "AlreadyAssigned": "user"}

    user = choice(User.objects.none(), label="Person", empty_label="Choose a person")
    customer = choice(
        Customer.objects.none(), label="Customer", empty_label="Choose a customer", required=False
    )
    every_customer = forms.BooleanField(
        label="Every customer, those to come included", required=False, widget=widgets.UnfoldBooleanWidget()
    )

    def prepare(self) -> None:
        people, mine = self.fields["user"], self.fields["customer"]
        assert isinstance(people, forms.ModelChoiceField)
        assert isinstance(mine, forms.ModelChoiceField)
        people.queryset = User.objects.filter(is_active=True).exclude(pk=self.person.pk)
        mine.queryset = scope.customers_for(self.person)

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if bool(cleaned.get("customer")) == cleaned.get("every_customer") and "customer" not in self.errors:
            self.add_error("customer", "Choose one customer, or tick every customer: one of the two.")
        return cleaned

    def perform(self, *, now: datetime) -> Assignment:
        given = self.cleaned_data
        return assigning.assign(user=given["user"], customer=given["customer"], by=self.person, now=now)

    def done(self, made: Any) -> str:
        return f"{made} from now on."


class RegisterForm(OperationForm):
    """Register a person under a business."""

    submit_label = "Register cardholder"
    lead = "It goes to Endl at once. Compliance reviews the cardholder before a card can be issued."
    refusal_fields = {"NoCards": "customer", "AlreadyThere": "email"}
    _both = "Endl needs a first and a last name; nothing is filled in for you."

    customer = choice(Customer.objects.none(), label="Business", empty_label="Choose a business")
    first_name = PlainText(
        label="First name",
        max_length=100,
        help_text="In any script, up to 100 characters.",
        error_messages={"required": f"Write the first name. {_both}"},
    )
    last_name = PlainText(
        label="Last name",
        max_length=100,
        help_text="In any script, up to 100 characters.",
        error_messages={"required": f"Write the last name. {_both}"},
    )
    email = forms.EmailField(
        label="E-mail",
        max_length=254,
        widget=widgets.UnfoldAdminEmailInputWidget(attrs={"autocomplete": "off"}),
        error_messages={"invalid": "Write the whole address, such as name@example.com."},
    )
    # Not plain text: one phone number in ten passes the check of card numbers.
    phone = forms.CharField(
        label="Phone",
        max_length=60,
        required=False,
        widget=widgets.UnfoldAdminTextInputWidget(attrs={"inputmode": "tel", "autocomplete": "off"}),
        help_text="With + and country code, such as +14155552671.",
    )

    def prepare(self) -> None:
        field = self.fields["customer"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = scope.customers_for(self.person).filter(is_active=True, type=Customer.Type.BUSINESS)

    def clean_phone(self) -> str:
        typed: str = self.cleaned_data["phone"]
        try:
            return phones.to_e164(typed) if typed else ""
        except phones.NotAPhoneNumber as problem:
            raise forms.ValidationError(str(problem)) from None

    def perform(self, *, now: datetime) -> CardholderRequest:
        return registering.register_cardholder(by=self.person, now=now, **self.cleaned_data)

    def done(self, made: Any) -> str:
        return f"{made} is on the way to Endl."


class ReviewForm(ActForm):
    """Compliance's word: two buttons, one form."""

    verdicts: ClassVar[tuple[tuple[str, str, str], ...]] = (
        (CardholderReview.Verdict.APPROVED, "Approve", "primary"),
        (CardholderReview.Verdict.REJECTED, "Reject", "danger"),
    )

    # The newest review that the page showed; a decision on another ground is not taken.
    seen = forms.CharField(max_length=20, widget=forms.HiddenInput)
    reason = LongText(label="Reason", max_length=500, required=False, help_text="Needed to reject.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["seen"].initial = self._newest()

    def _newest(self) -> str:
        newest = self.about.reviews.order_by("-pk").values_list("pk", flat=True).first()
        return str(newest or 0)

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        verdict = self.data.get("verdict", "")
        if verdict not in CardholderReview.Verdict.values:
            raise forms.ValidationError("Choose to approve or to reject.")
        if cleaned.get("seen") != self._newest():
            raise forms.ValidationError(
                "Somebody reviewed this cardholder since you looked. Look again before you decide."
            )
        if verdict == CardholderReview.Verdict.REJECTED and not cleaned.get("reason"):
            self.add_error("reason", "Say why you reject the cardholder.")
        return {**cleaned, "verdict": CardholderReview.Verdict(verdict)}


class CardholderPicker(AutocompleteSelect):
    """Searches where a list would be too long. Gives names and ids only, of the person's customers."""

    def __init__(self) -> None:
        super().__init__(CardOrder._meta.get_field("cardholder"), admin.site)

    def optgroups(self, name: str, value: Sequence[str], attr: Any = None) -> Any:
        """Show what is chosen; what is no id at all is chosen by nobody."""
        ids = [text for text in map(str, value) if text.isascii() and text.isdigit() and len(text) < 19]
        return super().optgroups(name, ids, attr)


class IssueForm(OperationForm):
    """Order a single-use card."""

    submit_label = "Issue card"
    refusal_fields = {"NotEligible": "cardholder"}

    cardholder = choice(Cardholder.objects.none(), label="Cardholder", empty_label="Choose a cardholder")
    amount = forms.CharField(
        label="Amount in US dollars",
        help_text="Plain digits with a point, such as 19.99; from 0.01 to 100,000.00.",
        widget=widgets.UnfoldAdminTextInputWidget(attrs={"inputmode": "decimal", "autocomplete": "off"}),
    )
    purpose = PlainText(
        label="Purpose",
        max_length=140,
        help_text="Up to 140 characters; it stays here unless this office is set up to send it.",
        error_messages={"required": "Say what the card is for."},
    )

    def prepare(self) -> None:
        each, day = dollars(settings.ORDER_CEILING_CENTS), dollars(settings.ORDER_DAY_CEILING_CENTS)
        self.lead = (
            f"Up to {each} USD a card, and {day} USD in 24 hours over all your cards, it is sent at once; "
            "above that another person approves it first."
        )
        field = self.fields["cardholder"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = _who_may_hold_cards(self.person)
        field.label_from_instance = _cardholder_label  # type: ignore[assignment, method-assign]
        if field.queryset[: SHORT_LIST + 1].count() > SHORT_LIST:
            field.widget = CardholderPicker()
            field.widget.choices = field.choices
        if "second" in self.data:
            self._ask_for_second()

    def _ask_for_second(self) -> None:
        self.fields["second"] = forms.BooleanField(
            label="Yes, a second card", widget=widgets.UnfoldBooleanWidget()
        )

    def clean_amount(self) -> int:
        """The amount in cents."""
        typed: str = self.cleaned_data["amount"]
        try:
            return parse_dollars(typed, least_cents=SMALLEST_CENTS, most_cents=LARGEST_CENTS)
        except NotAnAmount as problem:
            raise forms.ValidationError(str(problem)) from None

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        same = self._same_order(cleaned)
        if same is not None and not cleaned.get("second"):
            self._ask_for_second()
            raise forms.ValidationError(
                f"{same.maker} ordered a card of {dollars(same.amount_cents)} USD for {same.cardholder} at "
                f"{same.created_at:%H:%M %Z}. Tick “Yes, a second card” if you want another one."
            )
        return cleaned

    def _same_order(self, given: dict[str, Any]) -> CardOrder | None:
        """An order like this one of the last ten minutes; the first click on this page is none."""
        if "cardholder" not in given or "amount" not in given:
            return None
        like_this = CardOrder.objects.filter(
            cardholder=given["cardholder"],
            amount_cents=given["amount"],
            created_at__gt=timezone.now() - _SAME_ORDER_WITHIN,
        ).exclude(state__in=_NOTHING_CAME_OF_IT)
        if like_this.filter(form_token=given.get("form_token", "")).exists():
            return None
        return like_this.select_related("maker", "cardholder").first()

    def perform(self, *, now: datetime) -> CardOrder:
        given = self.cleaned_data
        return issuing.request_card(
            cardholder=given["cardholder"],
            amount_cents=given["amount"],
            purpose=given["purpose"],
            form_token=given["form_token"],
            by=self.person,
            now=now,
        )

    def done(self, made: Any) -> str:
        if made.state == State.REQUESTED:
            return f"{made} is requested. It is sent when another person has approved it."
        return f"{made} is ordered."


def _who_may_hold_cards(person: User) -> Any:
    approved = Cardholder.objects.filter(
        review_state=Cardholder.Review.APPROVED,
        missing_since=None,
        customer__is_active=True,
        customer__type=Customer.Type.BUSINESS,
    )
    return scope.limit(approved, person, "customer").select_related("customer")


def _cardholder_label(cardholder: Cardholder) -> str:
    return f"{cardholder}, {cardholder.customer} ({cardholder.endl_id})"
