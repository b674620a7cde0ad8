"""Session tokens: account, audience, and signature."""

from __future__ import annotations

import hmac
import json
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jwt
import pytest
from pydantic import ValidationError

from farm_core.accounts import signing_keys
from farm_core.secret import farm_secret
from farm_core.settings import Settings
from tests.api.conftest import Jwks
from tests.api.world import World
from tests.patience import HANG_SECONDS

NAMED: dict[str, Any] = {"aud": "render-farm", "iss": "https://id.example.com"}


def status(world: World, token: str) -> int:
    return world.client.get("/api/v1/usage", headers={"Authorization": f"Bearer {token}"}).status_code


def signed_with(public_key: bytes, claims: dict[str, Any]) -> str:
    """Return a token signed with the published key as its secret. Libraries refuse to create it."""
    parts = [{"alg": "HS256", "typ": "JWT", "kid": "one"}, claims]
    text = ".".join(urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts)
    return f"{text}.{urlsafe_b64encode(hmac.digest(public_key, text.encode(), 'sha256')).rstrip(b'=').decode()}"


@pytest.mark.service
def test_a_token_of_a_jwks_key_must_name_the_audience_and_issuer_of_the_settings(
    start: Callable[..., World], jwks: Jwks
) -> None:
    world = start(jwt_jwks_url=jwks.address, jwt_audience=NAMED["aud"], jwt_issuer=NAMED["iss"])
    ada = world.account().account_id
    assert status(world, jwks.sign(ada, **NAMED)) == 200
    assert status(world, jwks.sign(ada, **NAMED | {"aud": ["others", "render-farm"]})) == 200
    wrong: list[dict[str, Any]] = [
        {}, {"aud": NAMED["aud"]}, {"iss": NAMED["iss"]}, NAMED | {"aud": "billing"}, NAMED | {"aud": []}, NAMED | {"aud": None},
        NAMED | {"iss": "https://id.example.com.evil.example"}, NAMED | {"iss": ""},
    ]  # fmt: skip
    for claims in wrong:
        assert status(world, jwks.sign(ada, **claims)) == 401, claims


@pytest.mark.service
def test_a_jwks_farm_takes_no_token_of_another_algorithm(start: Callable[..., World], jwks: Jwks) -> None:
    world = start(jwt_jwks_url=jwks.address)
    ada = world.account().account_id
    claims = {"sub": ada, "exp": int(time.time()) + 3600, **NAMED}
    public_key_as_secret = signed_with(jwks.public, claims)
    own_secret = jwt.encode(claims, farm_secret(world.settings), algorithm="HS256", headers={"kid": "one"})
    unsigned = jwt.encode(claims, "", algorithm="none", headers={"kid": "one"})
    unknown_key = jwks.sign(ada).split(".")
    for token in (public_key_as_secret, own_secret, unsigned, ".".join(unknown_key[:2] + ["AAAA"])):
        assert status(world, token) == 401


@pytest.mark.service
def test_a_key_that_the_jwks_no_longer_lists_signs_nothing_once_the_keys_are_old(
    start: Callable[..., World], jwks: Jwks, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = start(jwt_jwks_url=jwks.address)
    token = jwks.sign(world.account().account_id)
    assert status(world, token) == 200
    jwks.keys[0]["kid"] = "two"
    assert status(world, token) == 200
    monkeypatch.setattr(signing_keys, "LIFETIME_SECONDS", 0.0)
    monkeypatch.setattr(signing_keys, "COOLDOWN_SECONDS", 0.0)
    assert status(world, token) == 401


@pytest.mark.service
def test_while_the_jwks_cannot_be_had_the_keys_that_it_listed_stay_valid(
    start: Callable[..., World], jwks: Jwks, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = start(jwt_jwks_url=jwks.address)
    token = jwks.sign(world.account().account_id)
    assert status(world, token) == 200
    jwks.keys.clear()
    monkeypatch.setattr(signing_keys, "LIFETIME_SECONDS", 0.0)
    monkeypatch.setattr(signing_keys, "COOLDOWN_SECONDS", 0.0)
    assert status(world, token) == 200
    assert len(jwks.asked) == 2


@pytest.mark.service
def test_one_caller_waits_while_known_keys_are_asked_for_again(
    start: Callable[..., World], jwks: Jwks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signing_keys, "TIMEOUT_SECONDS", HANG_SECONDS)
    world = start(jwt_jwks_url=jwks.address)
    token = jwks.sign(world.account().account_id)
    assert status(world, token) == 200
    monkeypatch.setattr(signing_keys, "LIFETIME_SECONDS", 0.0)
    monkeypatch.setattr(signing_keys, "COOLDOWN_SECONDS", 0.0)
    jwks.answers.clear()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(status, world, token)
        while len(jwks.asked) < 2:
            time.sleep(0.01)
        assert status(world, token) == 200
        assert not waiting.done()
        jwks.answers.set()
        assert waiting.result() == 200


@pytest.mark.service
@pytest.mark.parametrize("is_away", [False, True])
def test_tokens_of_keys_that_do_not_exist_cause_one_request_to_the_jwks(
    start: Callable[..., World], jwks: Jwks, is_away: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for pause in ("COOLDOWN_SECONDS", "RETRY_SECONDS"):
        monkeypatch.setattr(signing_keys, pause, 600.0)
    world = start(jwt_jwks_url=jwks.address)
    ada = world.account().account_id
    if is_away:
        jwks.keys.clear()
    for number in range(5):
        unknown = jwt.encode({"sub": ada}, "x" * 32, algorithm="HS256", headers={"kid": f"key {number}"})
        assert status(world, unknown) == (503 if is_away else 401)
    assert len(jwks.asked) == 1


@pytest.mark.service
@pytest.mark.parametrize("subject", ["\x00", "acc_\x00", "acc\n1", "\x7f", "", "x" * 201, 7, None, ["acc_1"], {}])
def test_a_subject_that_can_be_no_account_is_no_server_error(world: World, subject: object) -> None:
    claims = {"sub": subject, "iss": "render-farm", "exp": int(time.time()) + 3600}
    assert status(world, jwt.encode(claims, farm_secret(world.settings), algorithm="HS256")) == 401


@pytest.mark.service
def test_the_farms_own_tokens_name_their_issuer_and_their_end(world: World) -> None:
    ada = world.account().account_id
    whole = {"sub": ada, "iss": "render-farm", "exp": int(time.time()) + 3600}
    secret = farm_secret(world.settings)
    assert status(world, jwt.encode(whole, secret, algorithm="HS256")) == 200
    for missing in whole:
        claims = {name: value for name, value in whole.items() if name != missing}
        assert status(world, jwt.encode(claims, secret, algorithm="HS256")) == 401, missing
    for changed in ({"iss": "others"}, {"nbf": int(time.time()) + 36000}, {"exp": int(time.time()) - 1}):
        assert status(world, jwt.encode(whole | changed, secret, algorithm="HS256")) == 401, changed


@pytest.mark.parametrize(("secret", "accepted"), [("x" * 31, False), ("x" * 32, True), ("", True)])
def test_a_short_secret_is_refused_at_the_start(secret: str, accepted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JWT_SECRET", secret)
    if accepted:
        assert Settings().jwt_secret == (secret or None)
    else:
        with pytest.raises(ValidationError, match="jwt_secret"):
            Settings()
