"""The door for Endl's webhooks: checked once, over the raw bytes; stored; answered; handled later."""

import logging

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import Error as DatabaseTrouble
from django.http import HttpRequest, HttpResponse, UnreadablePostError
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from backoffice import endl as api
from backoffice.delivery import bell
from backoffice.delivery.checkpoint import checkpoint
from funding import tasks, webhooks

log = logging.getLogger("funding.webhooks")


@csrf_exempt
@login_not_required
@require_POST
def receive(request: HttpRequest) -> HttpResponse:
    """Answer 202 stored, 400 no event, 401 not signed, 404 webhooks off, 413 too large, 503 not stored."""
    if not settings.ENDL_WEBHOOK_SECRETS:
        return HttpResponse(status=404)
    if _length(request) > api.MAX_EVENT_BYTES:
        return HttpResponse(status=413)
    try:
        raw = request.read(api.MAX_EVENT_BYTES + 1)
    except UnreadablePostError:
        return HttpResponse(status=400)
    if len(raw) > api.MAX_EVENT_BYTES:
        return HttpResponse(status=413)
    return _store(request, raw)


def _length(request: HttpRequest) -> int:
    given = request.META.get("CONTENT_LENGTH") or "0"
    return int(given) if given.isascii() and given.isdigit() and len(given) < 12 else 0


def _store(request: HttpRequest, raw: bytes) -> HttpResponse:
    now = timezone.now()
    try:
        event = api.verify(
            raw=raw,
            headers=request.headers,
            secrets=settings.ENDL_WEBHOOK_SECRETS,
            now=now,
            scheme=settings.ENDL_WEBHOOK_SCHEME,
            header=settings.ENDL_WEBHOOK_HEADER,
        )
    except api.BadSignature:
        log.warning("a webhook was refused: its signature or time is wrong")
        return HttpResponse(status=401)
    except api.BadEvent:
        return HttpResponse(status=400)
    checkpoint("before-store")
    try:
        row = webhooks.store(event, now=now)
    except DatabaseTrouble:
        log.exception("a webhook could not be stored; Endl sends it again")
        return HttpResponse(status=503)
    checkpoint("after-store")
    bell.ring(tasks.HANDLE_EVENT, row.pk)
    return HttpResponse(status=202)
