"""Who is let in: by the key of the server, where it has one."""

from __future__ import annotations

import hmac

from starlette.datastructures import Headers

from .refusal import Refusal


def check_key(expected: str, headers: Headers, in_query: str | None = None) -> None:
    """Raises Refusal unless the request carries the key; without an expected one all may ask."""
    if not expected:
        return
    bearer = headers.get("authorization", "").removeprefix("Bearer ")
    named = headers.get("x-api-key") or headers.get("x-goog-api-key") or in_query
    given = named or bearer
    if not hmac.compare_digest(given.encode(), expected.encode()):
        raise Refusal("the API key is missing or wrong", status=401, code="invalid_api_key")
