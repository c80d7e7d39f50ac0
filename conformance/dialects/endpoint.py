"""Where requests of a dialect go, and what they must carry."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct, field

BASE: Final = "/v1"
_BEARER: Final = "authorization"


class Endpoint(Struct, frozen=True):
    """The way to one API.

    `api` is its word for users and in names of files (`--api chat`), `path` what stands behind
    the base URL; a step of it may be a name in braces (`/models/{model}:generate`). `base` is the
    base path of servers whose URL has none. `headers` go with every request, and `key_header`
    holds the key: as a bearer token in `authorization`, else as it is.
    """

    api: str
    path: str
    base: str = BASE
    headers: tuple[tuple[str, str], ...] = ()
    key_header: str = _BEARER

    def serves(self, path: str) -> bool:
        """Whether a request path, maybe with a query, leads here."""
        plain = path.partition("?")[0].rstrip("/")
        pattern = re.sub(r"\\{\w+\\}", "[^/:]+", re.escape(self.path))
        return re.search(rf"{pattern}\Z", plain) is not None

    def key_headers(self, key: str, header: str = "") -> dict[str, str]:
        """The header that carries a key; `header` is another one of the user's choice."""
        name = header or self.key_header
        return {name: f"Bearer {key}" if name.lower() == _BEARER else key}


class ModelListing(Struct, frozen=True):
    """Where models are listed: the path below the base URL, the keys of the list and of a name.

    `frame` and `details` are what stands beside the list, and beside each name.
    """

    path: str
    base: str = BASE
    entries: str = "data"
    name: str = "id"
    frame: Mapping[str, Any] = field(default_factory=lambda: {"object": "list"})
    details: Mapping[str, Any] = field(default_factory=lambda: {"object": "model", "created": 1})

    def names(self, payload: Any) -> list[str]:
        """The names that a list holds."""
        listed = payload.get(self.entries) if isinstance(payload, Mapping) else None
        entries = listed if isinstance(listed, list) else []
        found = (each.get(self.name) for each in entries if isinstance(each, Mapping))
        return [name for name in found if isinstance(name, str)]

    def body(self, name: str) -> dict[str, Any]:
        """A list of one model, as a server has it."""
        return {**self.frame, self.entries: [{self.name: name, **self.details}]}
