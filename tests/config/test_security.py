import re

import pytest
from django.conf import settings
from django.test import Client

from agents import signin
from agents.models import User

# What runs or styles without a file of its own, which the policy refuses.
INLINE = re.compile(r"<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=|javascript:", re.IGNORECASE)


@pytest.mark.django_db
def test_the_policy_allows_nothing_but_our_own_files(client: Client) -> None:
    policy = client.get("/accounts/login/")["Content-Security-Policy"]
    directives = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert directives["default-src"] == "'none'"
    assert directives["script-src"] == directives["style-src"] == "'self'"
    assert directives["frame-ancestors"] == directives["base-uri"] == "'none'"
    assert "unsafe" not in policy


def test_pages_before_signing_in_need_nothing_inline(client: Client, alice: User) -> None:
    for url in ("/accounts/login/", f"/sign-in/{signin.issue(user=alice)}", "/sign-in/unknown"):
        page = client.get(url).content.decode()
        assert "<h1>" in page
        assert INLINE.search(page) is None, url


def test_the_session_cookie_is_out_of_reach_of_scripts(client: Client, alice: User) -> None:
    client.post(f"/sign-in/{signin.issue(user=alice)}")
    cookie = client.cookies[settings.SESSION_COOKIE_NAME]
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"


def test_another_host_name_is_refused(client: Client, db: None) -> None:
    assert client.get("/accounts/login/", HTTP_HOST="evil.example").status_code == 400
    assert client.get("/accounts/login/", HTTP_HOST="localhost:8000").status_code == 200
