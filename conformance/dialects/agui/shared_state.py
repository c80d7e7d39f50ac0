"""The state that an agent and its interface share, and whether deltas apply to it.

Deltas are JSON Patch (RFC 6902), read as far as it takes to say whether they apply.

Rule 1: operations are applied in place, one after the other; the first that does not apply ends the
        patch, and nothing more is known of the state.
Rule 2: a path is a JSON Pointer (RFC 6901): `~1` is a slash, `~0` a tilde, `-` the place after the
        last element of a list, to which only `add` leads.
Rule 3: what is put in is a copy. A patch may copy a state into itself, and so double it with every
        operation: past MOST_COPIED bytes nothing more is known of the state either.

Rule 4: a snapshot states it whole. Before the first one it is that of the request; where that is
        not known, a delta is only asked whether it is a list of operations.
Rule 5: after a delta that does not apply the state is not known until the next snapshot.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from conformance.rules.patterns import same

MOST_COPIED: Final = 8 * 1024 * 1024
_INDEX: Final = re.compile("0|[1-9][0-9]{0,8}")
_NEEDS: Final[Mapping[str, str]] = {
    "add": "value",
    "replace": "value",
    "test": "value",
    "move": "from",
    "copy": "from",
    "remove": "path",
}


class PatchError(ValueError):
    """Why a patch does not apply."""


class UnknownStateError(Exception):
    """The state is larger or deeper than is followed."""


class PatchedState:
    """A state, and the patches that were applied to it."""

    def __init__(self, state: Any) -> None:
        self._copied = 0
        self._root = {"": self._copy(state)}

    def patch(self, operations: list[Any]) -> None:
        """Applies a patch. Raises PatchError where it does not apply."""
        try:
            for each in operations:
                self._apply(each)
        except RecursionError as err:
            raise UnknownStateError from err

    def _copy(self, value: Any) -> Any:
        try:
            data = msgspec.json.encode(value)
            self._copied += len(data)
            if self._copied > MOST_COPIED:
                raise UnknownStateError
            return msgspec.json.decode(data)
        except (ValueError, OverflowError, TypeError, RecursionError) as err:
            raise UnknownStateError from err

    def _apply(self, operation: Any) -> None:
        kind = operation.get("op") if isinstance(operation, Mapping) else None
        needed = _NEEDS.get(kind) if isinstance(kind, str) else None
        if needed is None:
            raise PatchError("an operation has no op of JSON Patch")
        if needed not in operation:
            raise PatchError(f"{kind} has no {needed}")
        root, path = self._root, _pointer(operation.get("path"))
        if kind == "test":
            if not same(_at(root, path), operation["value"]):
                raise PatchError("test finds another value")
        elif kind == "remove":
            _remove(root, path)
        else:
            value = operation.get("value")
            if kind in {"move", "copy"}:
                source = _pointer(operation["from"])
                value = _at(root, source)
                if kind == "move":
                    _remove(root, source)
            _put(root, path, self._copy(value), replaces=kind == "replace")


def _pointer(path: Any) -> tuple[str, ...]:
    """The steps to a value; the first leads to the state as a whole."""
    if not isinstance(path, str) or (path and not path.startswith("/")):
        raise PatchError("a path is no JSON Pointer")
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in path.split("/"))


def _at(root: dict[str, Any], path: tuple[str, ...]) -> Any:
    found: Any = root
    for step in path:
        found = found[_key(found, step)]
    return found


def _key(holder: Any, step: str) -> Any:
    """The key or index of what is there under a step."""
    if isinstance(holder, dict) and step in holder:
        return step
    if isinstance(holder, list) and _is_index(step) and int(step) < len(holder):
        return int(step)
    raise PatchError("a path leads nowhere")


def _is_index(step: str) -> bool:
    return bool(_INDEX.fullmatch(step))


def _remove(root: dict[str, Any], path: tuple[str, ...]) -> None:
    holder = _at(root, path[:-1])
    del holder[_key(holder, path[-1])]


def _put(root: dict[str, Any], path: tuple[str, ...], value: Any, *, replaces: bool) -> None:
    holder, step = _at(root, path[:-1]), path[-1]
    if replaces:
        holder[_key(holder, step)] = value
    elif isinstance(holder, dict):
        holder[step] = value
    elif isinstance(holder, list) and (
        step == "-" or (_is_index(step) and int(step) <= len(holder))
    ):
        holder.insert(len(holder) if step == "-" else int(step), value)
    else:
        raise PatchError("a path leads nowhere")


_MOST_ACTIVITIES: Final = 256


class SharedState:
    """State and activities of a stream, by name, as far as they are known.

    `_stated` are those that no delta has changed yet.
    """

    def __init__(self) -> None:
        self._stated: dict[str, Any] = {}
        self._patched: dict[str, PatchedState] = {}

    def begin_with(self, body: Any) -> None:
        if isinstance(body, dict) and "state" in body:
            self._state("", body["state"])

    def take(self, kind: str, fields: dict[str, Any]) -> dict[str, Any]:
        """Takes the next event; of a delta gives `applies`, and why it does not."""
        if kind == "STATE_SNAPSHOT":
            self._state("", fields.get("snapshot"))
        elif kind == "ACTIVITY_SNAPSHOT":
            self._state(f"activity {fields.get('messageId')}", fields.get("content"))
        elif kind == "STATE_DELTA":
            return self._patch("", fields.get("delta"))
        elif kind == "ACTIVITY_DELTA":
            return self._patch(f"activity {fields.get('messageId')}", fields.get("patch"))
        return {}

    def _state(self, name: str, value: Any) -> None:
        self._patched.pop(name, None)
        if name in self._stated or len(self._stated) < _MOST_ACTIVITIES:
            self._stated[name] = value

    def _patch(self, name: str, operations: Any) -> dict[str, Any]:
        if not isinstance(operations, list):
            return {"applies": False, "why": "it is no list of operations"}
        try:
            if name in self._stated:
                self._patched[name] = PatchedState(self._stated.pop(name))
            if name not in self._patched:
                return {}
            self._patched[name].patch(operations)
        except (PatchError, UnknownStateError) as err:
            self._patched.pop(name, None)
            return {} if isinstance(err, UnknownStateError) else {"applies": False, "why": str(err)}
        return {"applies": True}
