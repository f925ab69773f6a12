"""The pages of money."""

from funding.admin import requests  # noqa: F401
