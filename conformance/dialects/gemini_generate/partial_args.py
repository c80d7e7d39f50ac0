"""Arguments of a call of Gemini that come in pieces, put together.

Vertex AI streams them where a request asks for `streamFunctionCallArguments`
(https://github.com/googleapis/python-genai/blob/main/google/genai/types.py, `PartialArg`).

Rule 1: a piece says by a JSON path where its value stands, `$.trip.stops[0].name`. A path that
        this does not read, or that skips an element of a list, is left out.
Rule 2: texts at one path are joined; any other value replaces what is there.
"""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from conformance.dialects.json_edge import mapping, objects, string

_STEP: Final = re.compile(
    r"""\.([^.\[\]'"$*]+)|\[(\d{1,6})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]"""
)
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
_VALUES: Final = ("numberValue", "boolValue")
_MOST_STEPS: Final = 64

Steps = tuple[str | int, ...]


class PartialArgs:
    """What came of the arguments of one call so far."""

    __slots__ = ("_texts", "_values")

    def __init__(self) -> None:
        self._texts: dict[Steps, list[str]] = {}
        self._values: dict[Steps, Any] = {}  # in the order in which their paths came

    def add(self, pieces: Any) -> None:
        """Takes the `partialArgs` of one part."""
        for piece in objects(pieces):
            steps = _steps_of(string(piece.get("jsonPath")))
            if not steps:
                continue
            if isinstance(text := piece.get("stringValue"), str):
                self._texts.setdefault(steps, []).append(text)
                self._values[steps] = None
            else:
                self._texts.pop(steps, None)
                self._values[steps] = next(
                    (piece[key] for key in _VALUES if piece.get(key) is not None), None
                )

    def joined(self, whole: Any) -> str:
        """All as JSON, over the arguments that came `whole`; empty where no piece came."""
        made: dict[str, Any] = {**mapping(whole)}
        for steps, value in self._values.items():
            texts = self._texts.get(steps)
            _put(made, steps, value if texts is None else "".join(texts))
        return msgspec.json.encode(made).decode() if self._values else ""


def _steps_of(path: str) -> Steps:
    """The keys and indices of a JSON path; none for a path that is not read (rule 1)."""
    if not path.startswith("$"):
        return ()
    steps: list[str | int] = []
    at = 1
    while at < len(path) and len(steps) < _MOST_STEPS:
        match = _STEP.match(path, at)
        if match is None:
            return ()
        name, index, *quoted = match.groups()
        written = name or _ESCAPED.sub(r"\1", quoted[0] or quoted[1] or "")
        steps.append(written if index is None else int(index))
        at = match.end()
    return tuple(steps) if at == len(path) else ()


def _put(value: Any, steps: Steps, new: Any) -> None:
    """Puts `new` at its place; containers on the way are made, of the kind that is requested."""
    for step, following in zip(steps, (*steps[1:], None), strict=True):
        made = new if following is None else [] if isinstance(following, int) else {}
        if not _fits(value, step):
            return
        if following is None or _lacks(value, step):
            if isinstance(value, list) and step == len(value):
                value.append(made)
            else:
                value[step] = made
        value = value[step]


def _fits(value: Any, step: str | int) -> bool:
    """Whether the step leads into the container, or one after its last element."""
    if isinstance(step, int):
        return isinstance(value, list) and step <= len(value)
    return isinstance(value, dict)


def _lacks(value: Any, step: str | int) -> bool:
    return step == len(value) if isinstance(step, int) else step not in value
