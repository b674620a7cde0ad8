"""Session tokens: JSON Web Tokens whose subject is an account."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import jwt

from farm_core.accounts.signing_keys import SigningKeys

ISSUER: Final = "render-farm"
_OWN_ALGORITHM: Final = "HS256"
_JWKS_ALGORITHMS: Final = ("RS256", "RS384", "RS512", "ES256", "ES384", "PS256", "EdDSA")
_LEEWAY_SECONDS: Final = 0
_SUBJECT: Final = re.compile(r"[^\x00-\x1f\x7f]{1,200}")


class InvalidToken(Exception):
    """The token is not ours, was altered, or has expired."""


def issue(secret: bytes, account_id: str, ttl_seconds: int) -> str:
    """Return a token that signs its bearer in as the account until it expires."""
    now = datetime.now(UTC)
    claims = {"iss": ISSUER, "sub": account_id, "iat": now, "exp": now + timedelta(seconds=ttl_seconds)}
    return jwt.encode(claims, secret, algorithm=_OWN_ALGORITHM)


class TokenReader:
    """Verify tokens with the farm's secret, or with the keys of a JWKS address if one is set."""

    def __init__(self, secret: bytes, jwks_url: str | None, audience: str | None, issuer: str | None) -> None:
        """Set the `audience` and `issuer` that tokens signed with a JWKS key must name. None allows any."""
        self._secret = secret
        self._audience = audience
        self._issuer = issuer
        self._keys = SigningKeys(jwks_url) if jwks_url else None

    async def subject(self, token: str) -> str:
        """Return the account that the token names. Raises InvalidToken, or Unavailable if no keys can be fetched."""
        try:
            claims = await self._claims(token)
        except jwt.PyJWTError as error:
            raise InvalidToken from error
        subject = claims["sub"]
        if not isinstance(subject, str) or not _SUBJECT.fullmatch(subject):
            raise InvalidToken
        return subject

    async def _claims(self, token: str) -> dict[str, Any]:
        # Do not check `iat`: a clock that was ahead issued tokens that seem to be from the future. `exp` and `nbf` are
        # checked.
        required: Any = {"require": ["exp", "sub"], "verify_aud": False, "verify_iat": False}
        if self._keys is None:
            return jwt.decode(
                token,
                self._secret,
                algorithms=[_OWN_ALGORITHM],
                issuer=ISSUER,
                leeway=_LEEWAY_SECONDS,
                options=required,
            )
        key = await self._keys.key_of(token)
        options = required | {"verify_aud": self._audience is not None}
        return jwt.decode(
            token,
            key,
            algorithms=_JWKS_ALGORITHMS,
            leeway=_LEEWAY_SECONDS,
            options=options,
            audience=self._audience,
            issuer=self._issuer,
        )
