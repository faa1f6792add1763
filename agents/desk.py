"""What every page of the owner's desk shares: who is signed in, and the clock that times are on."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails

from agents.models import User

Params = ParamSpec("Params")


class DeskRequest(HttpRequest):
    """The request that a view under `desk` gets."""

    user: User
    htmx: HtmxDetails


def desk(
    view: Callable[Concatenate[DeskRequest, Params], HttpResponse],
) -> Callable[Concatenate[HttpRequest, Params], HttpResponse]:
    """Only for the signed-in owner, never cached, with times on the owner's clock."""

    @never_cache
    @wraps(view)
    def guarded(
        request: HttpRequest, /, *args: Params.args, **kwargs: Params.kwargs
    ) -> HttpResponse:
        if not request.user.is_authenticated:
            return _to_sign_in(request)
        with timezone.override(ZoneInfo(request.user.settings.time_zone)):
            response = view(request, *args, **kwargs)  # type: ignore[arg-type]
        patch_vary_headers(response, ["HX-Request"])
        return response

    return guarded


def came_from(request: HttpRequest, otherwise: str) -> str:
    """The page that a form or link names in `back`, but never one off this site."""
    place = request.POST.get("back") or request.GET.get("back") or ""
    return place if url_has_allowed_host_and_scheme(place, allowed_hosts=None) else otherwise


def back(request: HttpRequest, otherwise: str) -> HttpResponse:
    return redirect(came_from(request, otherwise))


def _to_sign_in(request: HttpRequest) -> HttpResponse:
    """A swap is no place for the sign-in page; and after it only a page can be returned to."""
    htmx: HtmxDetails = request.htmx  # type: ignore[attr-defined]
    if htmx:
        shown = urlsplit(htmx.current_url or "")
        page = f"{shown.path}?{shown.query}" if shown.query else shown.path
        return HttpResponseClientRedirect(redirect_to_login(page or "/")["Location"])
    return redirect_to_login(request.get_full_path() if request.method == "GET" else "/")
