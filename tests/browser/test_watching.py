"""The browser tests notice what they are to notice."""

from typing import TYPE_CHECKING

import pytest
from django.urls import reverse

from tests.browser.watching import grave_barriers, watch

if TYPE_CHECKING:
    from playwright.sync_api import Browser
    from pytest_django.live_server_helper import LiveServer

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_inline_styles_script_errors_and_barriers_are_noticed(
    browser: "Browser", live_server: "LiveServer"
) -> None:
    context = browser.new_context()
    found = watch(context)
    page = context.new_page()
    page.goto(live_server.url + reverse("login"))
    assert found == []
    assert grave_barriers(page) == ""
    page.evaluate("document.body.setAttribute('style', 'color: red')")
    page.evaluate("void setTimeout(() => { throw new Error('broken') }, 0)")
    page.evaluate("document.querySelector('label').remove()")
    page.wait_for_timeout(50)
    assert "label" in grave_barriers(page)
    context.close()
    assert any("style-src" in line for line in found)
    assert any("broken" in line for line in found)
