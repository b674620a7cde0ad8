"""Signing in: one-time links, session tokens, sessions."""

from __future__ import annotations

from typing import Any

import pytest

from console.pages import static_url
from farm_core.accounts import tokens
from farm_core.secret import farm_secret
from farm_core.sign_in.repository import LINK_LIFETIME, SESSION_LIFETIME
from tests.api.world import World
from tests.console.people import COOKIE, Person, browser, link_token, signed_in

HEADERS = ("Content-Security-Policy", "X-Content-Type-Options", "X-Frame-Options", "Referrer-Policy")


def test_a_link_signs_in_once_and_never_again(world: World) -> None:
    account = world.account()
    token = link_token(world, account.account_id)
    with browser(world) as first, browser(world) as thief:
        assert first.post("/console/enter", data={"token": token}).headers["location"] == "/console/"
        assert first.get("/console/account").status_code == 200
        refused = thief.post("/console/enter", data={"token": token})
        assert refused.status_code == 410
        assert "console-link" in refused.text
        assert thief.get("/console/account").status_code == 303


def test_the_first_page_has_the_templates_until_something_was_rendered(member: Person) -> None:
    assert member.get("/").headers["location"] == "/console/templates"
    member.api.job()
    assert member.get("/").headers["location"] == "/console/renders"


def test_looking_at_a_link_does_not_use_it_up(world: World) -> None:
    token = link_token(world, world.account().account_id)
    with browser(world) as client:
        for _ in range(3):
            assert "works once" in client.get("/console/enter", params={"token": token}).text
        assert client.post("/console/enter", data={"token": token}).status_code == 303


def test_links_and_sessions_expire(own_world: World) -> None:
    account = own_world.account()
    late, in_time = link_token(own_world, account.account_id), link_token(own_world, account.account_id)
    with browser(own_world) as client:
        assert client.post("/console/enter", data={"token": in_time}).status_code == 303
        own_world.clock.advance(LINK_LIFETIME.total_seconds() + 1)
        with browser(own_world) as other:
            assert other.post("/console/enter", data={"token": late}).status_code == 410
        assert client.get("/console/account").status_code == 200
        own_world.clock.advance(SESSION_LIFETIME.total_seconds())
        assert client.get("/console/account").status_code == 303


def test_a_session_token_signs_in_and_an_api_key_does_not(world: World) -> None:
    account = world.account()
    token = tokens.issue(farm_secret(world.settings), account.account_id, 60)
    with browser(world) as client:
        key = account.new_key().headers["Authorization"].removeprefix("Bearer ")
        assert client.post("/console/sign-in", data={"token": key}).status_code == 401
        assert client.post("/console/sign-in", data={"token": "nonsense"}).status_code == 401
        assert client.get("/console/renders").status_code == 303
        assert client.post("/console/sign-in", data={"token": f" {token}\n"}).status_code == 303, (
            "as a terminal prints it"
        )
        assert client.get("/console/renders").status_code == 200


def test_a_deployments_own_tokens_sign_in(start: Any, httpserver_jwks: Any) -> None:
    url, sign = httpserver_jwks
    world = start(jwt_jwks_url=url)
    account = world.account()
    with browser(world) as client:
        assert client.post("/console/sign-in", data={"token": sign(account.account_id)}).status_code == 303
        assert client.get("/console/renders").status_code == 200


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(world: World) -> None:
    token = link_token(world, world.account().account_id)
    with browser(world) as client:
        cookie = client.post("/console/enter", data={"token": token}).headers["set-cookie"]
    assert cookie.startswith(f"{COOKIE}=")
    assert {"HttpOnly", "SameSite=strict", "Path=/console"} <= {part.strip() for part in cookie.split(";")}


def test_the_cookie_of_a_farm_on_https_is_sent_over_https_only(start: Any) -> None:
    world = start(public_origin="https://farm.example")
    token = link_token(world, world.account().account_id)
    with browser(world) as client:
        cookie = client.post("/console/enter", data={"token": token}).headers["set-cookie"]
    assert "Secure" in {part.strip() for part in cookie.split(";")}


def test_the_cookie_is_sent_over_https_only_if_the_proxy_before_the_farm_speaks_it(start: Any) -> None:
    world = start(trusted_proxies="127.0.0.1")
    with browser(world) as client:
        for scheme, is_secure in (("https", True), ("http", False)):
            token = link_token(world, world.account().account_id)
            headers = {"X-Forwarded-Proto": scheme, "X-Forwarded-For": "192.0.2.1"}
            cookie = client.post("/console/enter", data={"token": token}, headers=headers).headers["set-cookie"]
            assert ("Secure" in {part.strip() for part in cookie.split(";")}) == is_secure


def test_signing_out_ends_the_session_for_copies_of_the_cookie_too(world: World) -> None:
    with signed_in(world, "ada") as person, signed_in(world, "bob") as other, browser(world) as copy:
        copy.cookies.update(person.client.cookies)
        assert person.post("/sign-out").status_code == 303
        assert COOKIE not in person.client.cookies
        assert copy.get("/console/account").status_code == 303
        assert other.get("/account").status_code == 200


def test_a_suspended_account_is_signed_out(member: Person) -> None:
    account_id = member.api.account_id
    member.api.world.database.execute("UPDATE accounts SET suspended_at = now() WHERE id = %s", (account_id,))
    assert member.get("/account").status_code == 303


def test_a_suspended_account_signs_in_neither_by_link_nor_by_token(own_world: World) -> None:
    account = own_world.account()
    link = link_token(own_world, account.account_id)
    token = tokens.issue(farm_secret(own_world.settings), account.account_id, 60)
    change = "UPDATE accounts SET suspended_at = {} WHERE id = %s"
    with browser(own_world) as client:
        own_world.database.execute(change.format("now()"), (account.account_id,))
        assert client.post("/console/enter", data={"token": link}).status_code == 410
        refused = client.post("/console/sign-in", data={"token": token})
        assert (refused.status_code, "This account is suspended." in refused.text) == (403, True)
        own_world.database.execute(change.format("NULL"), (account.account_id,))
        assert client.post("/console/enter", data={"token": link}).status_code == 303, "the link was not used up"


def test_the_audit_log_has_each_way_in(own_world: World) -> None:
    account = own_world.account()
    token = tokens.issue(farm_secret(own_world.settings), account.account_id, 60)
    with browser(own_world) as client:
        client.post("/console/sign-in", data={"token": token})
        client.post("/console/sign-in", data={"token": "nonsense"})
        client.post("/console/enter", data={"token": link_token(own_world, account.account_id)})
    entries = own_world.database.execute("SELECT action, role, target FROM audit_log ORDER BY id").fetchall()
    target = f"account {account.account_id}"
    assert entries == [("sign in", "account", target), ("sign in by link", "account", target)]


@pytest.mark.parametrize(
    "target",
    [
        "https://evil.example/",
        "//evil.example/",
        "/console/\\evil",
        "/api/v1/keys",
        "/console/a//evil",
        "/console/\u0000",
    ],
)
def test_signing_in_never_leads_away_from_the_console(world: World, target: str) -> None:
    token = tokens.issue(farm_secret(world.settings), world.account().account_id, 60)
    with browser(world) as client:
        answer = client.post("/console/sign-in", data={"token": token, "next": target})
    assert answer.headers["location"] == "/console/"


def test_a_page_is_returned_to_after_signing_in(world: World) -> None:
    with browser(world) as client:
        answer = client.get("/console/renders", params={"status": "failed"})
        assert answer.headers["location"] == "/console/sign-in?next=%2Fconsole%2Frenders%3Fstatus%3Dfailed"


def test_a_form_that_is_sent_without_a_session_is_said_to_have_changed_nothing(world: World) -> None:
    said = "You are signed out, so nothing was changed."
    with browser(world) as client:
        headers = {"Referer": f"{world.origin}/console/account"}
        answer = client.post("/console/account/keys", data={"name": "n8n"}, headers=headers)
        assert answer.headers["location"].startswith("/console/sign-in?next=%2Fconsole%2Faccount")
        assert said in client.get(answer.headers["location"]).text
        assert said not in client.get("/console/sign-in?next=%2Fconsole%2Faccount").text


@pytest.mark.parametrize(
    ("wanted", "reached"),
    [
        (
            "/console/templates/x/playground?input.name=Zoë+%26+Bo",
            "/console/templates/x/playground?input.name=Zo%C3%AB+%26+Bo",
        ),
        (f"/console/templates/x/playground?input.name={'a' * 5000}", "/console/templates/x/playground"),
        (f"/console/{'a' * 5000}", "/console/"),
        ("https://evil.example/", "/console/"),
    ],
)
def test_a_link_leads_to_the_page_that_needed_it(world: World, wanted: str, reached: str) -> None:
    account = world.account()
    with browser(world) as client:
        client.get("/console/sign-in", params={"next": wanted})
        entered = client.post("/console/enter", data={"token": link_token(world, account.account_id)})
        assert entered.headers["location"] == reached
        entered = client.post("/console/enter", data={"token": link_token(world, account.account_id)})
        assert entered.headers["location"] == "/console/"


@pytest.mark.parametrize(
    ("page", "reached"),
    [
        ("https://farm.example/console/renders?status=failed", "/console/renders?status=failed"),
        ("https://farm.example//evil.example/", "/console/"),
        ("", "/console/"),
    ],
)
def test_a_colour_theme_is_kept_and_leads_back_to_the_page(world: World, page: str, reached: str) -> None:
    with browser(world) as client:
        chosen = client.post("/console/theme", data={"theme": "dark"}, headers={"Referer": page})
        assert chosen.headers["location"] == reached
        assert "farm_theme=dark" in chosen.headers["set-cookie"]
        unknown = client.post("/console/theme", data={"theme": "plaid"}, headers={"Referer": page})
        assert "set-cookie" not in unknown.headers


def test_every_answer_carries_the_security_headers(world: World) -> None:
    with signed_in(world, "ada") as person:
        for path in (
            "/account",
            "/renders",
            "/nowhere",
            "/sign-in",
            static_url("console.css").removeprefix("/console"),
        ):
            headers = person.get(path).headers
            assert all(name in headers for name in HEADERS), path
            assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
            assert "unsafe" not in headers["Content-Security-Policy"]


def test_browsers_keep_static_files_of_the_version_that_is_served(world: World) -> None:
    address = static_url("console.js")
    version = address.split("/")[3]
    answers = [world.client.get(one) for one in (address, address.replace(version, "0" * 12))]
    assert answers[0].text == answers[1].text
    assert ["immutable" in answer.headers["cache-control"] for answer in answers] == [True, False]


def test_the_first_page_is_found_without_a_slash(world: World) -> None:
    assert world.client.get("/console").headers["location"] == "/console/"
