"""The forms about people."""

from datetime import datetime
from typing import Any

from django import forms
from django.contrib.auth.validators import UnicodeUsernameValidator
from unfold import widgets

from backoffice.access import people, roles
from backoffice.access.models import User
from backoffice.pages.fields import PlainText
from backoffice.pages.forms import OperationForm, ReasonForm


class AddPersonForm(OperationForm):
    """Make a person. Roles are given afterwards, on their page."""

    submit_label = "Add person"
    lead = "The person gets no role yet: give roles on the page that follows."
    refusal_fields = {"NameTaken": "username", "WeakPassword": "password"}

    username = PlainText(
        label="Sign-in name",
        max_length=150,
        help_text="Letters, digits and @ . + - _ only. It cannot be changed later.",
    )
    first_name = PlainText(label="First name", max_length=150)
    last_name = PlainText(label="Last name", max_length=150)
    email = forms.EmailField(
        label="E-mail", max_length=254, required=False, widget=widgets.UnfoldAdminEmailInputWidget()
    )
    password = forms.CharField(
        label="Temporary password",
        max_length=1024,
        strip=False,
        help_text="At least 12 characters. Tell the person; they choose their own when they first sign in.",
        widget=widgets.UnfoldAdminPasswordWidget(attrs={"autocomplete": "new-password"}),
    )

    def clean_username(self) -> str:
        given: str = self.cleaned_data["username"]
        UnicodeUsernameValidator()(given)
        return given

    def perform(self, *, now: datetime) -> User:
        given = {key: value for key, value in self.cleaned_data.items() if key != "form_token"}
        return people.add_person(by=self.person, now=now, **given)

    def done(self, made: Any) -> str:
        return f"{made} can sign in. Now give them a role."


class _RoleForm(ReasonForm):
    role = forms.ChoiceField(label="Role", widget=widgets.UnfoldAdminSelectWidget())

    field_order = ("role", "reason")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["role"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(role, role.capitalize()) for role in self.offered(self.about.role_names)]

    def offered(self, held: list[str]) -> list[str]:
        """The roles to choose from."""
        raise NotImplementedError


class GiveRoleForm(_RoleForm):
    """Which role to give, and why."""

    def offered(self, held: list[str]) -> list[str]:
        return [role for role in roles.ROLES if role not in held]


class TakeRoleForm(_RoleForm):
    """Which role to take away, and why."""

    def offered(self, held: list[str]) -> list[str]:
        return held
