"""Rules from a file: what is in it, what of it is ticked, and what came of that."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from agents.audit import person
from agents.desk import DeskRequest, desk
from memory.rules import imports
from memory.rules.forms import FileForm, ScopeForm
from memory.transfer.reading import BadFile

PAGE = "memory/rules_import.html"


@require_http_methods(["GET", "POST"])
@desk
def choose(request: DeskRequest) -> HttpResponse:
    """A POST shows what is in the file and stores nothing."""
    form = FileForm(request.user)
    if request.method == "GET":
        return render(request, PAGE, {"form": form})
    form = FileForm(request.user, request.POST, request.FILES)
    if not form.is_valid():
        return render(request, PAGE, {"form": form}, status=422)
    values = form.cleaned_data
    try:
        found = imports.preview(owner=request.user, agent=form.agent, text=values["text"])
    except BadFile as error:
        form.add_error(None, str(error))
        return render(request, PAGE, {"form": form}, status=422)
    context = {"form": form, "found": found, "name": values["name"], "scope": values["scope"]}
    context["skipped"] = sorted(found.skipped.items())
    return render(request, PAGE, context)


@require_POST
@desk
def bring_in(request: DeskRequest) -> HttpResponse:
    """`text` for each line that was ticked."""
    form = ScopeForm(request.user, request.POST)
    texts = request.POST.getlist("text")
    if not form.is_valid() or not texts:
        messages.warning(request, "Nothing was ticked, so nothing came in.")
        return redirect("rules-import")
    brought = imports.bring_in(
        owner=request.user,
        agent=form.agent,
        name=request.POST.get("name", "") or "pasted text",
        texts=texts,
        actor=person(request.user),
    )
    for _, why in brought.left:
        messages.warning(request, f"Left out: {why}")
    if brought.new:
        messages.success(request, f"{len(brought.new)} came in, behind the others.")
    return redirect("rules")
