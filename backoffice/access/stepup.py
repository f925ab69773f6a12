"""Step-up: prove again that it is you, shortly before something that matters.

In production the proof is the second factor; in practice mode it is the password, and the pages say so.
"""

from allauth.account.adapter import get_adapter
from allauth.account.internal.flows.login import record_authentication
from allauth.mfa.base.forms import ReauthenticateForm
from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from backoffice.access.factors import is_stepped_up
from backoffice.access.models import User
from backoffice.audit.context import prove_again


class StepUpForm(forms.Form):
    """One field that asks for the factor, to be put into the form of the act itself.

    Asks for nothing while the session is still stepped up, unless `always` is given.
    """

    factor = forms.CharField(max_length=1024, strip=True)

    def __init__(self, *args: object, request: HttpRequest, always: bool = False, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.request = request
        if is_stepped_up(request) and not always:
            del self.fields["factor"]
            return
        self.fields["factor"] = _password_field() if settings.PRACTICE else _code_field()

    def clean_factor(self) -> str:
        """Check the factor and remember the proof in the session. The value goes no further than here."""
        user, given = self.request.user, self.cleaned_data["factor"]
        assert isinstance(user, User)
        if settings.PRACTICE:
            self._prove_password(user, given)
        else:
            self._prove_code(user, given)
        prove_again(self.request)
        return ""

    def _prove_password(self, user: User, given: str) -> None:
        if not get_adapter(self.request).reauthenticate(user, given):
            raise ValidationError("That is not your password.")
        record_authentication(self.request, user, "password", reauthenticated=True)

    def _prove_code(self, user: User, given: str) -> None:
        form = ReauthenticateForm({"code": given}, user=user)
        if not form.is_valid():
            raise ValidationError("That code is wrong or was used before. Wait for the next one.")
        form.save()


def _password_field() -> forms.CharField:
    return forms.CharField(
        label="Your password",
        help_text="Practice mode: in production this asks for your second factor.",
        max_length=1024,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )


def _code_field() -> forms.CharField:
    return forms.CharField(
        label="Code from your authenticator app",
        help_text="Six digits; a recovery code is taken too.",
        max_length=32,
        widget=forms.TextInput(attrs={"autocomplete": "one-time-code", "inputmode": "numeric"}),
    )
