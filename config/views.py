from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from config import health


@never_cache
@require_GET
def healthz(request: HttpRequest) -> JsonResponse:
    parts = health.parts()
    well = all(state == health.OK for state in parts.values())
    return JsonResponse({"ok": well, "parts": parts}, status=200 if well else 503)
