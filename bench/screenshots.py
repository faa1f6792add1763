"""Makes docs/screenshots: `python -m bench.screenshots`. Needs Chromium.

A demo owner's invented conversations (bench/demo) go through the real import and the real
extraction, into a database that is thrown away afterwards.
"""

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

    from agents.models import User

ROOT = Path(__file__).resolve().parent.parent
DEMO = ROOT / "bench" / "demo" / "conversations.jsonl"
CHROMIUM = "/usr/bin/chromium"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
DESK, PHONE = {"width": 1100, "height": 820}, {"width": 390, "height": 780}
KNOWN = ("nurse", "allergic", "Tampere")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "screenshots")
    out: Path = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    with throw_away_home():
        owner = seed()
        with server() as address, chromium() as browser:
            for path in shots(browser, address, owner, out):
                print(path)


@contextmanager
def throw_away_home() -> Iterator[None]:
    """Before Django is set up: its settings read the environment."""
    home = tempfile.mkdtemp(prefix="remembrancer-screenshots-")
    os.environ.update(
        REMEMBRANCER_HOME=home,
        DJANGO_SETTINGS_MODULE="config.settings",
        # Playwright's synchronous API runs an event loop, in which Django refuses queries.
        DJANGO_ALLOW_ASYNC_UNSAFE="true",
    )
    for name in ("DATABASE_URL", "LLM_MODEL", "LLM_PRIVATE_MODEL"):
        os.environ.pop(name, None)
    sys.path.insert(0, str(ROOT))
    import django

    django.setup()
    try:
        yield
    finally:
        from django.db import connections

        connections.close_all()
        shutil.rmtree(home, ignore_errors=True)


def seed() -> "User":
    from django.core.management import call_command

    from agents.accounts import create_owner
    from agents.audit import command

    call_command("migrate", interactive=False, verbosity=0)
    owner = create_owner(
        username="aino",
        actor=command("screenshots"),
        reason="demo",
        time_zone="Europe/Helsinki",
        administrator=True,
    )
    call_command("import_conversations", str(DEMO), owner="aino")
    call_command("backfill", owner="aino")
    return owner


def confirm_some(owner: "User") -> None:
    from agents.audit import person
    from memory import embedding, lifecycle
    from memory.scope import facts_of
    from memory.vocabulary import State

    embedding.warm_up()
    facts = facts_of(owner).select_related("owner").filter(state=State.PENDING)
    chosen = [fact for fact in facts if any(word in fact.statement for word in KNOWN)]
    for fact in chosen:
        lifecycle.confirm(fact=fact, actor=person(owner))
    embedding.store_embeddings(chosen)


@contextmanager
def server() -> Iterator[str]:
    from django.contrib.staticfiles.handlers import StaticFilesHandler
    from django.test.testcases import LiveServerThread

    thread = LiveServerThread("127.0.0.1", StaticFilesHandler)
    thread.daemon = True
    thread.start()
    thread.is_ready.wait()
    if thread.error:
        raise thread.error
    yield f"http://127.0.0.1:{thread.port}"
    thread.terminate()


@contextmanager
def chromium() -> "Iterator[Browser]":
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


def shots(browser: "Browser", address: str, owner: "User", out: Path) -> Iterator[Path]:
    for name, scheme, size in (
        ("queue", "light", DESK),
        ("queue-dark", "dark", DESK),
        ("phone", "light", PHONE),
    ):
        context = signed_in(browser, address, owner, color_scheme=scheme, viewport=size)
        page = context.new_page()
        page.goto(address + "/review/")
        if size is DESK:
            page.keyboard.press("j")
        yield shoot(page, out / f"{name}.png")
        context.close()
    confirm_some(owner)
    context = signed_in(browser, address, owner, viewport=DESK)
    page = context.new_page()
    page.goto(address + "/recall/")
    page.get_by_label("Your message").fill("What should I cook after my shift at the hospital?")
    page.get_by_role("button").last.click()
    page.locator("#block").wait_for()
    yield shoot(page, out / "recall.png", whole=True)
    page.goto(address + "/facts/")
    yield shoot(page, out / "facts.png")
    page.locator(".rows a").first.click()
    yield shoot(page, out / "fact.png", whole=True)
    context.close()
    for name, scheme, size in (
        ("dashboard", "light", DESK),
        ("dashboard-dark", "dark", DESK),
        ("dashboard-phone", "light", PHONE),
    ):
        context = signed_in(browser, address, owner, color_scheme=scheme, viewport=size)
        page = context.new_page()
        page.goto(address + "/dashboard/")
        page.locator("canvas").last.wait_for()
        yield shoot(page, out / f"{name}.png")
        context.close()


def signed_in(
    browser: "Browser", address: str, owner: "User", **options: object
) -> "BrowserContext":
    from django.test import Client

    client = Client()
    client.force_login(owner)
    context = browser.new_context(**options)  # type: ignore[arg-type]
    context.add_cookies(
        [{"name": n, "value": c.value, "url": address} for n, c in client.cookies.items()]
    )
    return context


def shoot(page: "Page", path: Path, whole: bool = False) -> Path:
    page.screenshot(path=path, full_page=whole, animations="disabled")
    return path


if __name__ == "__main__":
    main()
