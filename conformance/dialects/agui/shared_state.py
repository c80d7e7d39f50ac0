"""The state that an agent and its interface share, and whether deltas apply to it.

Rule 1: a snapshot states it whole. Before the first one it is that of the request; where that is
        not known, a delta is only asked whether it is a list of operations.
Rule 2: after a delta that does not apply the state is not known until the next snapshot.
"""

from __future__ import annotations

from typing import Any, Final

from conformance.dialects.agui.patch import PatchedState, PatchError, UnknownStateError

_MOST_ACTIVITIES: Final = 256


class SharedState:
    """State and activities of a stream, by name, as far as they are known.

    `_stated` are those that no delta has changed yet.
    """

    def __init__(self) -> None:
        self._stated: dict[str, Any] = {}
        self._patched: dict[str, PatchedState] = {}

    def asked(self, body: Any) -> None:
        """What a request states."""
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
