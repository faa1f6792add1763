"""The daily mail: where it goes, and how it ends."""

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from agents.audit import person
from agents.desk import DeskRequest, desk
from memory.models import DigestMail, ReviewDigest
from memory.review import digest as digests


class AddressForm(forms.Form):
    address = forms.EmailField(
        label="Address", required=False, max_length=254, help_text="Leave it empty for no mails."
    )


@require_http_methods(["GET", "POST"])
@desk
def digest(request: DeskRequest) -> HttpResponse:
    row = ReviewDigest.objects.filter(owner=request.user).first()
    address = row.address if row else ""
    form = AddressForm(request.POST or None, initial={"address": address}, label_suffix="")
    if request.method == "POST" and form.is_valid():
        chosen = form.cleaned_data["address"]
        digests.set_address(owner=request.user, address=chosen, actor=person(request.user))
        messages.success(
            request, f"From now on it goes to {chosen}." if chosen else "You get no more mails."
        )
        return redirect("digest")
    context = {
        "form": form,
        "mail_on": settings.MAIL_ON,
        "waiting": digests.what_waits(request.user, timezone.now()),
        "mail": DigestMail.objects.filter(owner=request.user).first(),
    }
    return render(request, "memory/digest.html", context, status=422 if form.errors else 200)


# The mail program of the owner posts here by itself (RFC 8058); the signed link is the permission.
@csrf_exempt
@never_cache
@require_http_methods(["GET", "POST"])
def stop(request: HttpRequest, token: str) -> HttpResponse:
    """A GET only asks, for programs that look at mails follow every link in them."""
    row = digests.digest_of(token)
    if row is None:
        raise Http404("This link ends nothing.")
    if request.method == "POST":
        digests.stop(row)
    return render(request, "memory/digest_stop.html", {"ended": not row.address})
