"""Where things are: the admin, signing in, Endl's webhooks, and whether the office is well."""

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

from backoffice import health

# Before admin.site.urls is read, or the stock login page would still answer.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="admin:index"), name="front"),
    path("admin/", admin.site.urls),
    path("accounts/", include("backoffice.access.urls")),
    path("webhooks/", include("funding.urls")),
    *health.urlpatterns,
]

handler400 = "backoffice.errors.bad_request"
handler403 = "backoffice.errors.not_allowed"
handler404 = "backoffice.errors.not_found"
handler500 = "backoffice.errors.broken"
