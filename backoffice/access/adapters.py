"""How allauth behaves in this office: no sign-up, and authenticator secrets kept encrypted."""

import base64
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.mfa.adapter import DefaultMFAAdapter
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.urls import reverse

from backoffice import vault

_ABOUT = "access.authenticator"


class AccountAdapter(DefaultAccountAdapter):
    """People are made by an administrator; nobody signs up."""

    error_messages = {
        **DefaultAccountAdapter.error_messages,
        "username_password_mismatch": "That sign-in name and that password do not go together.",
        "enter_current_password": "That is not the password you have now.",
        "incorrect_code": "That code is wrong or was used before. Wait for the next one.",
        "too_many_login_attempts": "Too many tries. Wait five minutes, then try again.",
        "account_inactive": "This account is switched off.",
        "incorrect_password": "That is not your password.",
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        """Back to work, or on to the next step of setting up."""
        return reverse("admin:index")

    def clean_password(self, password: str, user: Any = None) -> str:
        """A password of one's own is not the one that was handed over."""
        if user is not None and user.pk and user.check_password(password):
            raise ValidationError("Choose a new password, not the one you have now.")
        cleaned: str = super().clean_password(password, user=user)
        return cleaned

    def add_message(self, request: HttpRequest, level: int, *args: Any, **kwargs: Any) -> None:
        """Say nothing on signing in or out: the page itself shows it."""


class MFAAdapter(DefaultMFAAdapter):
    """Authenticator secrets and recovery codes are sealed with STORAGE_KEYS before they are stored."""

    def encrypt(self, text: str) -> str:
        return base64.b64encode(vault.seal(text.encode(), about=_ABOUT)).decode()

    def decrypt(self, encrypted_text: str) -> str:
        return vault.unseal(base64.b64decode(encrypted_text), about=_ABOUT).decode()
