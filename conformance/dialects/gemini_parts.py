"""Parts of a content: what kind each is, which call it is, whether it is signed; their usage.

Rule 1: the kind is the key that holds the part's own: `text`, `functionCall`, ...; a text with
        `thought` is of kind `thought`. Flags and a signature make no kind.
Rule 2: calls are counted from 0, among the parts that stand next to each other in one content.
        A call that `willContinue` continues in the calls without a name after it, which count as
        that call and are `continued`.
Rule 3: `carrier` names what a signature is on, the call by its name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from conformance.dialects.json_edge import event_data, mapping, string, whole

CALL: Final = "functionCall"
_KINDS: Final = (
    *(CALL, "functionResponse", "executableCode", "codeExecutionResult", "inlineData"),
    *("fileData", "audioTranscription", "toolCall", "toolResponse", "text"),
)
# Requests may be written either way.
_SPELLED: Final = ("thoughtSignature", "thought_signature")


def kind_of(part: dict[str, Any]) -> str:
    """The kind of a part by rule 1; `unknown` where none of its keys is known."""
    if part.get("thought") is True and isinstance(part.get("text"), str):
        return "thought"
    kinds = (each for each in _KINDS if part.get(each) is not None)
    return next(kinds, "unknown")


def signature_of(part: dict[str, Any]) -> str:
    """The signature on a part, empty where it has none."""
    return next((text for key in _SPELLED if (text := string(part.get(key)))), "")


def stays_open(call: dict[str, Any]) -> bool:
    """Whether more of a call is announced."""
    return call.get("willContinue") is True


def continues_call(part: dict[str, Any]) -> bool:
    """Whether a part can continue an open call: a new call has a name."""
    call = part.get(CALL)
    return isinstance(call, dict) and not call.get("name")


def part_data(element: Any, calls: int, *, is_open: bool = False, **place: Any) -> dict[str, Any]:
    """Data of a part as a wire event; `calls` came before it, the last of which may be open."""
    part = mapping(element)
    kind = kind_of(part)
    more: dict[str, Any] = {**place, "kind": kind}
    if kind == CALL and is_open and continues_call(part):
        more["call"], more["continued"] = calls - 1, True
    elif kind == CALL:
        more["call"] = calls
    if signature_of(part):
        name = string(mapping(part.get(CALL)).get("name"))
        more["carrier"] = f"{kind} {name}".strip()
    return event_data(element, **more)


COUNTED: Final = (
    *("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount"),
    "toolUsePromptTokenCount",
)


def token_counts(usage: dict[str, Any], keys: Sequence[str], total: str) -> dict[str, int | None]:
    """Counts in the words of all dialects.

    `keys` name those of prompt, answer, thinking and use of tools, `total` that of all.
    """
    prompt, output, thought, tools = (whole(usage.get(key)) for key in keys)
    return {
        "input": None if prompt is None else prompt + (tools or 0),
        "output": None if output is thought is None else (output or 0) + (thought or 0),
        "reasoning": thought,
        "total": whole(usage.get(total)),
    }
