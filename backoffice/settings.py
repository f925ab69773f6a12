"""Settings of the back office: one file, all of it from the environment.

Names are listed in the README under "Configuration". Every secret can also be given as NAME_FILE. The
office refuses to start when a secret is missing or weak: a sentence says which and what to do.
"""

import base64
import binascii
import logging
import sys
from pathlib import Path
from urllib.parse import urlsplit

import environ
from csp.constants import NONE, SELF, UNSAFE_EVAL, UNSAFE_INLINE
from django.core.exceptions import ImproperlyConfigured

from backoffice import menu
from backoffice.hours import office_hours
from backoffice.logs import logging_config
from backoffice.look import UNFOLD  # noqa: F401  (the theme's own settings)

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.Env()
VAR_DIR = Path(env.str("VAR_DIR", str(BASE_DIR / "var")))


def secret(name: str, default: str | None = None) -> str:
    """Read a secret from NAME, or from the file that NAME_FILE names. Raises ImproperlyConfigured."""
    file_name = env.str(f"{name}_FILE", "")
    if file_name:
        try:
            return Path(file_name).read_text().strip()
        except OSError as problem:
            raise ImproperlyConfigured(f"{name}_FILE cannot be read: {problem.strerror}.") from problem
    value: str | None = env.str(name, default)
    if value is None:
        raise ImproperlyConfigured(f"{name} is missing: set {name} or {name}_FILE.")
    return value.strip()


def storage_keys(text: str) -> list[bytes]:
    """Read STORAGE_KEYS: comma-separated base64, 32 bytes each, the first one seals."""
    try:
        keys = [base64.b64decode(part, validate=True) for part in text.split(",") if part.strip()]
    except binascii.Error as problem:
        raise ImproperlyConfigured("STORAGE_KEYS must be base64, several separated by commas.") from problem
    if not keys or any(len(key) != 32 for key in keys):
        raise ImproperlyConfigured("STORAGE_KEYS needs at least one key of 32 bytes, in base64.")
    return keys


def is_loopback(url: str) -> bool:
    """Whether a URL names this machine and nothing else."""
    host = urlsplit(url).hostname or ""
    return host in {"localhost", "::1"} or host.startswith("127.")


# --- What kind of office this is -------------------------------------------------------------------

DEBUG = env.bool("DEBUG", False)
PRACTICE = env.bool("PRACTICE", False)

SECRET_KEY = secret("SECRET_KEY")
if len(SECRET_KEY) < 50 or len(set(SECRET_KEY)) < 5:
    raise ImproperlyConfigured("SECRET_KEY is weak: give at least 50 random characters.")
SECRET_KEY_FALLBACKS = [key for key in secret("SECRET_KEY_FALLBACKS", "").split(",") if key]
STORAGE_KEYS = storage_keys(secret("STORAGE_KEYS"))

PORT = env.int("PORT", 8000)
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"] if PRACTICE else [])
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])

# --- The line to Endl ------------------------------------------------------------------------------

ENDL_BASE_URL = env.str("ENDL_BASE_URL")
ENDL_API_KEY = secret("ENDL_API_KEY")
ENDL_API_VERSION = env.str("ENDL_API_VERSION", "2026-09.1")
ENDL_HTTP_PROXY = env.str("ENDL_HTTP_PROXY", "")
ENDL_PRIVATE_KEY_FILES = [Path(name) for name in env.list("ENDL_PRIVATE_KEY_FILES", default=[])]
ENDL_PRIVATE_KEY_PASSPHRASE_FILE = env.str("ENDL_PRIVATE_KEY_PASSPHRASE_FILE", "")
ENDL_ENVELOPE_FORM = env.str("ENDL_ENVELOPE_FORM", "detect")
ENDL_OAEP_HASH = env.str("ENDL_OAEP_HASH", "sha256")
ENDL_MGF_HASH = env.str("ENDL_MGF_HASH", "") or None
ENDL_WEBHOOK_SECRETS = [
    each.strip() for each in secret("ENDL_WEBHOOK_SECRETS", "").split(",") if each.strip()
]
ENDL_WEBHOOK_SCHEME = env.str("ENDL_WEBHOOK_SCHEME", "standard")
ENDL_WEBHOOK_HEADER = env.str("ENDL_WEBHOOK_HEADER", "X-Signature")
ENDL_SEND_MEMO = env.bool("ENDL_SEND_MEMO", False)
SPOOL_DIR = Path(env.str("SPOOL_DIR", str(VAR_DIR / "spool")))

if PRACTICE and not is_loopback(ENDL_BASE_URL):
    raise ImproperlyConfigured("PRACTICE=1 is for this machine only: ENDL_BASE_URL must be on loopback.")

# The ratios are fixed: the lease outlasts the call, and the sweep looks more often than a lease lasts.
ENDL_CALL_SECONDS = env.float("ENDL_CALL_SECONDS", 25.0)
DELIVERY_LEASE_SECONDS = ENDL_CALL_SECONDS * 1.4
DELIVERY_SWEEP_SECONDS = ENDL_CALL_SECONDS * 0.4
# How often Endl is asked by all processes together; half of each second's share is kept for money and cards.
ENDL_RATE_PER_SECOND = env.float("ENDL_RATE_PER_SECOND", 10.0)
APPROVAL_HOURS = env.int("APPROVAL_HOURS", 24)
KEY_HORIZON_HOURS = env.int("KEY_HORIZON_HOURS", 24)
# Card details go when the first of these is true; see docs/operations.md before switching one off.
DETAILS_HOURS = env.int("DETAILS_HOURS", 72)
DESTROY_WHEN_NOT_ACTIVE = env.bool("DESTROY_WHEN_NOT_ACTIVE", True)
DESTROY_WHEN_LOOKS_ARE_USED_UP = env.bool("DESTROY_WHEN_LOOKS_ARE_USED_UP", True)
# How long a revealed card stays on the screen, and how often anybody may look before it is refused, or told.
REVEAL_SECONDS = env.int("REVEAL_SECONDS", 30)
REVEALS_PER_CARD = env.int("REVEALS_PER_CARD", 3)
REVEALS_PER_TEN_MINUTES = env.int("REVEALS_PER_TEN_MINUTES", 5)
REVEALS_PER_DAY = env.int("REVEALS_PER_DAY", 20)
REVEALS_ALERT_PER_DAY = env.int("REVEALS_ALERT_PER_DAY", 100)
# Roles that may copy revealed details to the clipboard; takes effect with the next `manage.py migrate`.
CARD_COPY_ROLES = env.list("CARD_COPY_ROLES", default=[])
ORDER_CEILING_CENTS = env.int("ORDER_CEILING_CENTS", 1_000_00)
ORDER_DAY_CEILING_CENTS = env.int("ORDER_DAY_CEILING_CENTS", 5_000_00)
SYNC_SECONDS = env.int("SYNC_SECONDS", 300)
FOLLOW_SECONDS = env.int("FOLLOW_SECONDS", 30)

# --- Applications ----------------------------------------------------------------------------------

INSTALLED_APPS = [
    # Not "unfold" alone: that would put a site of its own in the place of ours.
    "unfold.apps.BasicAppConfig",
    "unfold.contrib.filters",
    "backoffice.apps.OfficeAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "csp",
    "django_structlog",
    "backoffice.apps.OfficeConfig",
    "backoffice.access",
    "backoffice.audit",
    "backoffice.approvals",
    "backoffice.delivery",
    "backoffice.mirror",
    "cards",
    "funding",
]
# What the home page shows: the office knows its apps only by these names.
HOME_PANELS = ["backoffice.approvals.home.panels", "funding.home.panels", "cards.home.panels"]
# What `sync` and `create_sample_activity` call, in this order.
SYNCS = ["cards.sync.sync_cardholders", "funding.deposits.sync_money"]
SAMPLES = ["cards.sample.make", "funding.sample.make"]
# Where the pages stand.
NAVIGATION, QUICK_ACTIONS = menu.NAVIGATION, menu.QUICK_ACTIONS
# Whose customers a list of the office's own may show, it asks the pages of this model.
CUSTOMER_MODEL = "cards.customer"
CELERY_TASK_MODULES = ["backoffice.delivery", "backoffice.mirror", "cards", "funding"]
# How each kind of request reads for the rules of approvals, and who sees which customer.
APPROVAL_BOOKS = ["funding.deposits.BOOK", "cards.issuing.BOOK"]
WHO_SEES_CUSTOMER, CUSTOMERS_OF = "cards.scope.people_for", "cards.scope.customers_for"
DOSSIER_TELLERS = {"deposit": "funding.dossiers.tell", "card_order": "cards.dossiers.tell"}
# Called with (approval, decision) inside the transaction that decides.
DECISION_WITNESSES = ["backoffice.approvals.dossiers.freeze"]
ROADS = ["cards.registering.ROAD", "cards.issuing.ROAD", "funding.deposits.ROAD"]
INVARIANTS = ["cards.invariants.CHECKS", "funding.invariants.CHECKS"]
# Called by each web process when it starts.
WEB_STARTS = ["cards.keyring.watch"]
TRIGGERS = [
    "backoffice.approvals.triggers.TRIGGERS",
    "backoffice.audit.triggers.TRIGGERS",
    "cards.triggers.TRIGGERS",
    "funding.triggers.TRIGGERS",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.gzip.GZipMiddleware",
    "csp.middleware.CSPMiddleware",
    "backoffice.pages.guard.StrictPolicyMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django_structlog.middlewares.RequestMiddleware",
    "backoffice.pages.guard.GuardMiddleware",
    "backoffice.access.sessions.SessionClockMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "backoffice.access.enrolment.SecondFactorMiddleware",
    "backoffice.audit.context.AuditMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "backoffice.access.sessions.NoStoreMiddleware",
    "backoffice.errors.BusyMiddleware",
]

ROOT_URLCONF = "backoffice.urls"
WSGI_APPLICATION = "backoffice.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "backoffice.site.office_context",
            ]
        },
    }
]

# --- Database and cache ----------------------------------------------------------------------------

# Tables belong to another role where DATABASE_OWNER_URL names one: what serves pages cannot drop a trigger.
OWNERS_COMMANDS = {"migrate", "createcachetable"}
IS_OWNERS_WORK = bool(env.str("DATABASE_OWNER_URL", "")) and sys.argv[1:2] and sys.argv[1] in OWNERS_COMMANDS
DATABASE_URL_NAME = "DATABASE_OWNER_URL" if IS_OWNERS_WORK else "DATABASE_URL"
DATABASES = {"default": env.db_url(DATABASE_URL_NAME, f"sqlite:///{VAR_DIR / 'backoffice.sqlite3'}")}
IS_EMBEDDED = DATABASES["default"]["ENGINE"].endswith("sqlite3")
if IS_EMBEDDED:
    DATABASES["default"]["OPTIONS"] = {
        "timeout": 20,
        "transaction_mode": "IMMEDIATE",
        # What is destroyed is overwritten with zeros, not only marked free.
        "init_command": (
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA busy_timeout=20000; "
            "PRAGMA secure_delete=ON;"
        ),
    }
else:
    DATABASES["default"]["CONN_MAX_AGE"] = 60
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
    DATABASES["default"]["OPTIONS"] = {
        "options": "-c lock_timeout=5s -c statement_timeout=15s -c idle_in_transaction_session_timeout=30s"
    }
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
# Shared by all processes: sign-in limits counted per process would let four times as many tries through.
CACHES = {"default": {"BACKEND": "django.core.cache.backends.db.DatabaseCache", "LOCATION": "office_cache"}}

# --- Celery: a doorbell, never the truth ------------------------------------------------------------

CELERY_BROKER_URL = env.str("CELERY_BROKER_URL", "embedded://")

# --- People ----------------------------------------------------------------------------------------

AUTH_USER_MODEL = "access.User"
AUTHENTICATION_BACKENDS = ["backoffice.access.backends.OfficeBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 12},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "admin:index"
ACCOUNT_ADAPTER = "backoffice.access.adapters.AccountAdapter"
ACCOUNT_FORMS = {
    "login": "backoffice.access.sign_in.SignInForm",
    "change_password": "backoffice.access.sign_in.OwnPasswordForm",
}
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_LOGOUT_ON_GET = False
ACCOUNT_LOGOUT_REDIRECT_URL = "account_login"
ACCOUNT_SESSION_REMEMBER = False
ACCOUNT_PREVENT_ENUMERATION = True
ACCOUNT_REAUTHENTICATION_TIMEOUT = 300
ACCOUNT_REAUTHENTICATION_REQUIRED = True
MFA_ADAPTER = "backoffice.access.adapters.MFAAdapter"
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes"]
MFA_TOTP_ISSUER = "Endl back office"
SECOND_FACTOR_REQUIRED = not PRACTICE
STEP_UP_SECONDS = 300
SESSION_IDLE_SECONDS = 15 * 60
SESSION_COOKIE_AGE = 12 * 60 * 60

# --- The browser -----------------------------------------------------------------------------------

SECURE_COOKIES = not (PRACTICE or DEBUG)
SESSION_COOKIE_NAME = "__Host-session" if SECURE_COOKIES else "office_session"
SESSION_COOKIE_SECURE = SECURE_COOKIES
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_EXPIRE_AT_BROWSER_CLOSE = True
CSRF_COOKIE_NAME = "__Host-csrf" if SECURE_COOKIES else "office_csrf"
CSRF_COOKIE_SECURE = SECURE_COOKIES
CSRF_COOKIE_HTTPONLY = True
CSRF_FAILURE_VIEW = "backoffice.errors.stale_form"
SECURE_SSL_REDIRECT = SECURE_COOKIES
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if SECURE_COOKIES else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_COOKIES
SECURE_HSTS_PRELOAD = SECURE_COOKIES
SECURE_REFERRER_POLICY = "same-origin"
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if env.bool("BEHIND_PROXY", False) else None
ALLAUTH_TRUSTED_PROXY_COUNT = 1 if SECURE_PROXY_SSL_HEADER else 0
X_FRAME_OPTIONS = "DENY"
DATA_UPLOAD_MAX_MEMORY_SIZE = 512 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 2000
# Unfold's menus are Alpine expressions, hence eval; there is no inline script anywhere.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF, UNSAFE_EVAL],
        "style-src": [SELF, UNSAFE_INLINE],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}

# --- Language, time, files --------------------------------------------------------------------------

LANGUAGE_CODE = "en-us"
TIME_ZONE = env.str("TIME_ZONE", "UTC")
OFFICE_HOURS = office_hours(
    env.str("OFFICE_HOURS", "Mon-Fri 07:00-20:00"), env.str("OFFICE_TIME_ZONE", TIME_ZONE)
)
USE_TZ = True
USE_I18N = False
STATIC_URL = "/static/"
STATIC_ROOT = VAR_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
if PRACTICE:
    # Served from where they lie: no collecting, so that the second start takes seconds.
    STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    WHITENOISE_USE_FINDERS = True
# What a report of a mistake may tell: never what variables held, not even where DEBUG is on.
DEFAULT_EXCEPTION_REPORTER = "backoffice.reports.RedactedReport"
DEFAULT_EXCEPTION_REPORTER_FILTER = "backoffice.reports.NoValues"
FORM_RENDERER = "django.forms.renderers.DjangoTemplates"
SILENCED_SYSTEM_CHECKS: list[str] = []

LOGGING = logging_config(
    debug=DEBUG or PRACTICE,
    secrets=[SECRET_KEY, ENDL_API_KEY, *ENDL_WEBHOOK_SECRETS, *env.str("STORAGE_KEYS", "").split(",")],
)
# The request's id travels with the bell, so that a worker's lines can be found by it.
DJANGO_STRUCTLOG_CELERY_ENABLED = True
# A sweep every ten seconds is no news; what goes wrong still is.
DJANGO_STRUCTLOG_CELERY_DEFAULT_LOG_LEVEL = logging.DEBUG
