"""What goes wrong in a page without anybody seeing it, and what some people can't use."""

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

# Chromium writes a line for most violations of the policy; the event comes for every one.
_TELL = """
document.addEventListener("securitypolicyviolation", (event) => {
  console.error(`Policy: ${event.violatedDirective} refused ${event.blockedURI || "inline"}`);
});
"""
# Answers that pages are made for, which Chromium calls errors all the same.
_ANSWERS = ("status of 409", "status of 422")
# Of minor, moderate, serious and critical.
_GRAVE = {"serious", "critical"}


# Seconds, of a wait and between two looks.
_PATIENCE, _PAUSE = 20, 0.05


def wait_until(page: "Page", true: str) -> None:
    """Playwright's own wait for an expression looks again from inside the page, where the policy
    refuses to read one; it only passes where the first look does."""
    until = time.monotonic() + _PATIENCE
    while not page.evaluate(true):
        assert time.monotonic() < until, f"not so after {_PATIENCE} seconds: {true}"
        page.wait_for_timeout(1000 * _PAUSE)


def watch(context: "BrowserContext") -> list[str]:
    """Script errors, errors in the console, refused resources and violations of the policy: the
    list grows while the context's pages are used. For pages opened from now on."""
    found: list[str] = []
    context.add_init_script(_TELL)
    context.on("weberror", lambda error: found.append(str(error.error)))
    context.on(
        "console",
        lambda line: (
            found.append(line.text)
            if line.type == "error" and not any(answer in line.text for answer in _ANSWERS)
            else None
        ),
    )
    return found


def grave_barriers(page: "Page", known: frozenset[tuple[str, str]] = frozenset()) -> str:
    """What axe-core calls serious or critical on the page as it stands now; empty when nothing.

    `known`: rule and start of the selector of what isn't ours to mend.
    """
    from axe_playwright_python.sync_playwright import Axe

    # Without its copy of the stylesheets, which it would put into the page against the policy.
    results = Axe().run(page, options={"resultTypes": ["violations"], "preload": False})
    for one in results.response["violations"]:
        selectors = tuple(selector for rule, selector in known if rule == one["id"])
        one["nodes"] = (
            [node for node in one["nodes"] if not node["target"][0].startswith(selectors)]
            if selectors
            else one["nodes"]
        )
    results.response["violations"] = [
        one for one in results.response["violations"] if one["impact"] in _GRAVE and one["nodes"]
    ]
    return results.generate_report() if results.violations_count else ""
