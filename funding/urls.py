"""Where Endl's webhooks arrive."""

from django.urls import path

from funding.receiving import receive

urlpatterns = [path("endl/", receive, name="endl_webhook")]
