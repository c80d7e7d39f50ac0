"""What Agent2Agent streams: the names of its events here, the states of a task, and its keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.dialects.history import vocabulary
from conformance.dialects.json_edge import mapping, string
from conformance.dialects.wire_keys import WireKeys

NAME: Final = "google.a2a"
TASK: Final = "a2a.task"
STATUS: Final = "a2a.status"
ARTIFACT: Final = "a2a.artifact"
MESSAGE: Final = "a2a.message"
PART: Final = "a2a.part"
BODY: Final = "a2a.body"
ERROR: Final = "a2a.error"
UNKNOWN: Final = "a2a.unknown"
OVERFLOW: Final = "a2a.overflow"
VOCABULARY: Final = vocabulary(
    NAME, TASK, STATUS, ARTIFACT, MESSAGE, PART, BODY, ERROR, UNKNOWN, OVERFLOW
)
WIRE_KEYS: Final = WireKeys(
    texts=("text",),
    shown=("text",),
    opaque=("adk_thought_signature",),
    words=("kind", "state", "role"),
    free=("data", "metadata"),
    unrolled=("parts",),
    unrolling=("a2a.",),
)
TERMINAL: Final = frozenset({"completed", "failed", "canceled", "rejected"})
INTERRUPTED: Final = frozenset({"input-required", "auth-required"})
UNDER_WAY: Final = frozenset({"submitted", "working"})
_MEMBERS: Final = {
    "task": TASK,
    "statusUpdate": STATUS,
    "artifactUpdate": ARTIFACT,
    "message": MESSAGE,
}
_KINDS: Final = {
    "task": TASK,
    "status-update": STATUS,
    "artifact-update": ARTIFACT,
    "message": MESSAGE,
}
_OLD_PARTS: Final[Mapping[str, tuple[str, type]]] = {
    "text": ("text", str),
    "file": ("file", dict),
    "data": ("data", dict),
}
_NEW_PARTS: Final = {"text": "text", "raw": "file", "url": "file", "data": "data"}


def held(payload: Any) -> tuple[str, dict[str, Any], str]:
    """The wire event of a payload, what it holds, and by which version it is spelled.

    Up to 0.3 `kind` says what an object is, since 1.0 the member that holds it. Over JSON-RPC it is
    a `result`, over REST the payload itself.
    """
    fields = mapping(payload)
    result = mapping(fields["result"]) if "result" in fields else fields
    if (kind := _KINDS.get(string(result.get("kind")))) is not None:
        return kind, result, "0.3"
    for member, name in _MEMBERS.items():
        if isinstance(result.get(member), dict):
            return name, result[member], "1.0"
    # The answer to a request for a task is the task itself, without a member around it.
    if isinstance(result.get("id"), str) and isinstance(result.get("status"), dict):
        return TASK, result, "1.0"
    return UNKNOWN, {}, ""


def state_of(fields: Mapping[str, Any]) -> str:
    """The state of a task in the words of 0.3, whatever the version."""
    state = string(mapping(fields.get("status")).get("state"))
    return state.removeprefix("TASK_STATE_").lower().replace("_", "-")


def part_kind(part: Mapping[str, Any], version: str) -> str:
    """What a part holds: text, file or data; `unknown` for one that holds none of them, or two."""
    if version == "0.3":
        kind = string(part.get("kind"))
        key, is_a = _OLD_PARTS.get(kind, ("", str))
        return kind if isinstance(part.get(key), is_a) else "unknown"
    found = [key for key in _NEW_PARTS if key in part]
    is_one = len(found) == 1 and (found[0] == "data" or isinstance(part[found[0]], str))
    return _NEW_PARTS[found[0]] if is_one else "unknown"


def mark_of(part: Mapping[str, Any], word: str) -> Any:
    """What the metadata of a part say under a word, which frameworks put their name before.

    ADK has `adk_thought`, kagent `kagent_thought`, others just `thought`.
    """
    about = mapping(part.get("metadata"))
    ending = f"_{word}"
    return next((v for k, v in about.items() if k == word or k.endswith(ending)), None)
