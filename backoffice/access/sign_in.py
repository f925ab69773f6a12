"""The forms of signing in, in the office's words."""

from typing import Any

from allauth.account.forms import ChangePasswordForm, LoginForm


class SignInForm(LoginForm):
    """Asks for the sign-in name; says nothing of resetting by mail, which this office does not have."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["login"].label = "Sign-in name"
        self.fields["login"].widget.attrs["autofocus"] = True
        self.fields["password"].help_text = ""


class OwnPasswordForm(ChangePasswordForm):
    """Asks for the old password and, twice, for the new one."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["oldpassword"].label = "The password you have now"
        self.fields["password1"].label = "New password"
        self.fields["password1"].help_text = "At least 12 characters, not a common one, not like your name."
        self.fields["password2"].label = "New password again"
