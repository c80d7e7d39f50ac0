"""What an interface holds of the parts of a message, and what it sends of them with the next one.

Rule 1: of the values that sealed a part the last one counts. What belongs to the output of a call
        is none of its call's.
Rule 2: of the outputs of a call the last one counts.
Rule 3: outputs stand in the order of their calls, whichever came first, each as JSON. JavaScript
        knows no difference between 14 and 14.0.
Of a message with more than MOST_HELD parts, or MOST_CHARACTERS in them, there are no events.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.dialects.json_edge import mapping, objects, string
from conformance.dialects.turns import HistoryCall, history_call
from conformance.dialects.vercel_ui.parts import opaque_data

MOST_HELD: Final = 4096
MOST_CHARACTERS: Final = 4 * 1024 * 1024  # of all seals and outputs, also of replaced ones
_LONG: Final = 40  # characters: a thought that is no chance repetition
_CALL: Final = "tool-"
_DYNAMIC: Final = "dynamic-tool"
_OUTPUT: Final = "tool-output-available"


class HeldParts:
    """The parts of one message, in the order in which they began."""

    def __init__(self) -> None:
        self._parts: list[dict[str, Any]] = []
        self._open: dict[tuple[str, str], dict[str, Any]] = {}
        self._calls: dict[str, dict[str, Any]] = {}
        self._size = 0

    @property
    def _is_full(self) -> bool:
        return len(self._parts) > MOST_HELD or self._size > MOST_CHARACTERS

    def take(self, kind: str, fields: Mapping[str, Any]) -> None:
        """One part of the stream."""
        word = kind.partition("-")[0]
        if self._is_full:
            return
        if kind == "finish-step":
            self._open.clear()
        elif kind == _OUTPUT:
            held = self._calls.get(string(fields.get("toolCallId")))
            if held is not None and "output" in fields:
                self._set(held, "output", as_sent(fields["output"]))
        elif kind.startswith("tool-input"):
            self._seal(self._call(string(fields.get("toolCallId"))), fields)
        elif word in ("text", "reasoning"):
            name = word, string(fields.get("id"))
            if name not in self._open or kind.endswith("-start"):
                self._open[name] = self._begin(word)
            self._seal(self._open[name], fields)

    def _call(self, name: str) -> dict[str, Any]:
        if name not in self._calls:
            self._calls[name] = self._begin("call")
        return self._calls[name]

    def _begin(self, kind: str) -> dict[str, Any]:
        held = {"kind": kind}
        self._parts.append(held)
        return held

    def _seal(self, held: dict[str, Any], fields: Mapping[str, Any]) -> None:
        if sealed := _sealed(fields.get("providerMetadata")):
            self._set(held, "sealed", sealed)

    def _set(self, held: dict[str, Any], key: str, value: str) -> None:
        self._size += len(value)
        held[key] = value

    def events(self) -> Iterator[dict[str, Any]]:
        yield from () if self._is_full else self._parts


def sent_parts(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The parts of a message of a request; `again` where a long thought is there once more."""
    thoughts: set[str] = set()
    for part in objects(message.get("parts")):
        kind, text = string(part.get("type")), string(part.get("text"))
        if _is_call(kind):
            output = {"output": as_sent(part["output"])} if "output" in part else {}
            yield {"kind": "call", **_seal_of(part, "callProviderMetadata"), **output}
        elif kind in ("text", "reasoning"):
            sent = {"kind": kind, "text": text, **_seal_of(part, "providerMetadata")}
            yield sent | ({"again": True} if text in thoughts else {})
            if kind == "reasoning" and len(text) >= _LONG:
                thoughts.add(text)


def sent_calls(message: Mapping[str, Any]) -> Iterator[HistoryCall]:
    """The calls of a message that the provider did not carry out."""
    for part in objects(message.get("parts")):
        kind = string(part.get("type"))
        if _is_call(kind) and part.get("providerExecuted") is not True:
            name = part.get("toolName") if kind == _DYNAMIC else kind.removeprefix(_CALL)
            yield history_call(part.get("toolCallId"), name, part.get("input"))


def as_sent(output: Any) -> str:
    """An output in one spelling."""
    return history_call("", "", {"output": _whole_numbers(output)}).arguments


def _whole_numbers(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_whole_numbers(each) for each in value]
    if isinstance(value, dict):
        return {key: _whole_numbers(each) for key, each in value.items()}
    return value


def _is_call(kind: str) -> bool:
    return kind == _DYNAMIC or kind.startswith(_CALL)


def _seal_of(part: Mapping[str, Any], key: str) -> dict[str, str]:
    sealed = _sealed(part.get(key))
    return {"sealed": sealed} if sealed else {}


def _sealed(metadata: Any) -> str:
    return " ".join(data for _, data in opaque_data({"providerMetadata": mapping(metadata)}))
