"""Where requests of a dialect go, and what they must carry."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Final
from urllib.parse import quote, unquote

from msgspec import Struct, field

BASE: Final = "/v1"
_BEARER: Final = "authorization"
_NAME: Final = re.compile(r"{(\w+)}")


class Endpoint(Struct, frozen=True):
    """The way to one API.

    `api` is its word for users and in names of files (`--api chat`), `path` what comes after
    the base URL; a step of it may be a name in braces (`/models/{model}:generate`), and then the
    path says what other APIs say in the body. So it does where `stream_path` is stated: there a
    stream is requested, at `path` a whole body. `base` is the base path of servers whose URL has
    none. `headers` go with every request, and `key_header` holds the key: as a bearer token in
    `authorization`, else as it is. A path that ends alike and has one of `never_below` in it is
    another API's. `only_named`: a run asks it only where `--api` names it, for other APIs share
    its path.
    """

    api: str
    path: str
    base: str = BASE
    headers: tuple[tuple[str, str], ...] = ()
    key_header: str = _BEARER
    stream_path: str = ""
    never_below: tuple[str, ...] = ()
    only_named: bool = False

    def serves(self, path: str) -> bool:
        """Whether a request path, maybe with a query, leads here."""
        plain = _plain(path)
        if any(each in plain for each in self.never_below):
            return False
        return any(_pattern(each).search(plain) for each in (self.path, self.stream_path) if each)

    def stated(self, path: str) -> dict[str, Any]:
        """What a request path says that other APIs say in the body: `model`, `stream`."""
        if not self._says_more:
            return {}
        plain = _plain(path)
        for own, streams in ((self.stream_path, True), (self.path, False)):
            if own and (found := _pattern(own).search(plain)):
                fields: dict[str, Any] = {k: unquote(v) for k, v in found.groupdict().items()}
                return {**fields, "stream": streams} if self.stream_path else fields
        return {}

    def address(self, body: Any, model: str = "") -> tuple[str, Any]:
        """The path of a request below the base URL, and its body without what the path says.

        `model` is the one of requests whose body names none.
        """
        if not self._says_more or not isinstance(body, Mapping):
            return self.path, body
        known = {"model": model, **body}
        path = self.stream_path if self.stream_path and known.get("stream") is True else self.path
        in_path = {*_NAME.findall(path), *(("stream",) if self.stream_path else ())}
        filled = _NAME.sub(lambda name: quote(str(known.get(name[1], "")), safe=""), path)
        return filled, {key: value for key, value in body.items() if key not in in_path}

    @property
    def _says_more(self) -> bool:
        return bool(self.stream_path) or "{" in self.path

    def key_headers(self, key: str, header: str = "") -> dict[str, str]:
        """The header that carries a key; `header` is another one of the user's choice."""
        name = header or self.key_header
        return {name: f"Bearer {key}" if name.lower() == _BEARER else key}


class ModelListing(Struct, frozen=True):
    """Where models are listed: the path below the base URL, the keys of the list and of a name.

    `prefix` is what a list puts before each name. `frame` and `details` are what is next to the
    list, and next to each name. `shown` is what is stated of a model at `show_path`, where that is
    asked by a request of its own.
    """

    path: str
    base: str = BASE
    entries: str = "data"
    name: str = "id"
    prefix: str = ""
    frame: Mapping[str, Any] = field(default_factory=lambda: {"object": "list"})
    details: Mapping[str, Any] = field(default_factory=lambda: {"object": "model", "created": 1})
    show_path: str = ""
    shown: Mapping[str, Any] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash((self.path, self.base, self.entries, self.name))

    def names(self, payload: Any) -> list[str]:
        listed = payload.get(self.entries) if isinstance(payload, Mapping) else None
        entries = listed if isinstance(listed, list) else []
        found = (each.get(self.name) for each in entries if isinstance(each, Mapping))
        return [name.removeprefix(self.prefix) for name in found if isinstance(name, str)]

    def body(self, name: str) -> dict[str, Any]:
        """A list of one model, as a server has it."""
        return {**self.frame, self.entries: [self.entry(name)]}

    def entry(self, name: str) -> dict[str, Any]:
        """One model, as a list holds it and as it is known by itself."""
        return {self.name: self.prefix + name, **self.details}


def _plain(path: str) -> str:
    return path.partition("?")[0].rstrip("/")


@cache
def _pattern(path: str) -> re.Pattern[str]:
    """Finds the path at the end of one, with the names in braces as groups."""
    steps = _NAME.split(_plain(path))
    names = (f"(?P<{step}>[^/]+)" if at % 2 else re.escape(step) for at, step in enumerate(steps))
    return re.compile(rf"{''.join(names)}\Z")
