from django.conf import settings
from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from agents import signin


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in(request: HttpRequest, token: str) -> HttpResponse:
    """GET only shows a button: programs that preview links must not use them up."""
    if request.method != "POST":
        good = signin.is_good(token=token)
        return render(request, "agents/sign_in.html", {"good": good}, status=200 if good else 410)
    user = signin.consume(token=token)
    if user is None:
        return render(request, "agents/sign_in.html", {"good": False}, status=410)
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    return redirect(settings.LOGIN_REDIRECT_URL)
