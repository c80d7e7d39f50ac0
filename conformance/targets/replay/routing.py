"""Prefixes: which recordings a request is matched against, and whose turn it is.

`/c/NAME/...` reaches one recording, `/c/NAME@SESSION/...` the same with a state of its own, so that
parallel test runs share one server; `/c/@SESSION/...` is a session over everything. What follows is
the path that is matched. A request without prefix reaches everything.
"""

from __future__ import annotations

from typing import Final, NamedTuple
from urllib.parse import quote, unquote, urlsplit

from conformance.rules.node import nearest
from conformance.targets.replay.matching import ExchangeIndex, ReplaySession
from conformance.targets.replay.miss import ReplayMiss

MARK: Final = "/c/"
_NOBODY: Final = "\0"  # the name of no file
_DEEPEST: Final = 16  # segments of a name


class RoutedRequest(NamedTuple):
    """The name and session of a request's prefix, the path after it, and what answers it."""

    name: str
    session: str
    path: str
    replay: ReplaySession


class MountedRecordings:
    """Recordings under one name, with the state of each session."""

    def __init__(self, index: ExchangeIndex, most_sessions: int) -> None:
        self.index = index
        self.sessions = {"": ReplaySession(index)}
        self._most_sessions = most_sessions

    def find_session(self, name: str) -> ReplaySession | None:
        """The session, a new one if its name is new; None: there are too many."""
        found = self.sessions.get(name)
        if found is None and len(self.sessions) < self._most_sessions:
            found = self.sessions[name] = ReplaySession(self.index)
        return found


class MountTable(dict[str, MountedRecordings]):
    """Recordings by the name they are served under; the empty name is everything."""

    def route_request(self, target: str) -> RoutedRequest | ReplayMiss:
        path = target if target.startswith("/") else _path_of(target)
        if not path.startswith(MARK):
            return self._session_route("", "", path)
        where = path.partition("?")[0]
        segments = where[len(MARK) :].split("/")
        for depth in range(1, min(len(segments), _DEEPEST) + 1):
            name, session = self._name_and_session("/".join(segments[:depth]))
            if name in self:
                length = len(MARK) + len("/".join(segments[:depth]))
                return self._session_route(name, session, path[length:])
        hint = nearest(unquote(segments[0]), [name for name in self if name])
        place = f"{MARK}{segments[0][:200]}"
        return ReplayMiss(f"no recording is served under {place!r}{f' ({hint})' if hint else ''}")

    def _name_and_session(self, quoted: str) -> tuple[str, str]:
        """The name and the session; a name that is served may hold the mark itself."""
        whole = unquote(quoted)
        if whole and whole in self:
            return whole, ""
        name, mark, session = quoted.rpartition("@")
        return (unquote(name), unquote(session)) if mark else (whole or _NOBODY, "")

    def _session_route(self, name: str, session: str, rest: str) -> RoutedRequest | ReplayMiss:
        found = self[name].find_session(session)
        if found is None:
            return ReplayMiss("there are too many sessions; use fewer, or restart the server")
        return RoutedRequest(name, session, rest or "/", found)


def url_prefix(name: str, session: str) -> str:
    """The prefix that reaches a recording and a session; empty for everything."""
    if not name and not session:
        return ""
    marked = f"@{quote(session, safe='')}" if session else ""
    return MARK + quote(name) + marked


def _path_of(target: str) -> str:
    """The path and query of a URL, as proxies get it; anything else is an unrecorded path."""
    try:
        parts = urlsplit(target)
    except ValueError:
        return f"/{target}"
    path = parts.path if parts.path.startswith("/") else f"/{parts.path}"
    return f"{path}?{parts.query}" if parts.query else path
