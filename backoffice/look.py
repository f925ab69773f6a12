"""How the admin's theme is set: names, colours, what it shows of ours. The environment has no say here."""

from typing import Any

from django.templatetags.static import static
from django.urls import reverse_lazy

UNFOLD: dict[str, Any] = {
    "SITE_TITLE": "Endl back office",
    "SITE_HEADER": "Endl back office",
    "SITE_SUBHEADER": "Cards and funding",
    "SITE_SYMBOL": "credit_card",
    "SITE_URL": None,
    "SHOW_HISTORY": True,
    "SHOW_VIEW_ON_SITE": False,
    "SITE_FAVICONS": [
        {"rel": "icon", "type": "image/svg+xml", "href": lambda _request: static("office/favicon.svg")}
    ],
    "DASHBOARD_CALLBACK": "backoffice.site.home",
    # A calm petrol; weights from 600 up carry white text at 4.5:1 and better.
    "COLORS": {
        "primary": {
            "50": "oklch(97.5% .012 225)",
            "100": "oklch(94.5% .026 226)",
            "200": "oklch(89% .05 227)",
            "300": "oklch(81.5% .08 228)",
            "400": "oklch(74% .1 229)",
            "500": "oklch(66% .108 231)",
            "600": "oklch(48.5% .098 234)",
            "700": "oklch(42.5% .09 237)",
            "800": "oklch(37% .078 240)",
            "900": "oklch(32% .065 242)",
            "950": "oklch(24% .05 244)",
        },
    },
    "ACCOUNT": {
        "navigation": [
            {"title": "Change password", "link": reverse_lazy("account_change_password")},
            {"title": "Second factor", "link": reverse_lazy("mfa_index")},
        ]
    },
    "STYLES": [lambda _request: static("office/office.css")],
    "SCRIPTS": [lambda _request: static("office/office.js")],
    "SIDEBAR": {
        "show_search": True,
        "show_all_applications": False,
        "navigation": "backoffice.site.navigation",
    },
}
