"""The form of the sign-in page, in the office's words."""

from typing import Any

from allauth.account.forms import LoginForm


class SignInForm(LoginForm):
    """Asks for the sign-in name; says nothing of resetting by mail, which this office does not have."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["login"].label = "Sign-in name"
        self.fields["login"].widget.attrs["autofocus"] = True
        self.fields["password"].help_text = ""
