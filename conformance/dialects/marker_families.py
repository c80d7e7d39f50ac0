"""What model families write between the tokens of an answer, as `specs/markers.yaml` lists it.

The file is read once, by whoever first binds rules. What rules ask for are lists over all families
(`marker_knobs`); one family by itself is of interest to readers and tests only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Final

from msgspec import Struct

from conformance.core.built_values import built_value
from conformance.core.shipped import specs
from conformance.rules import document
from conformance.rules.node import Node

FILE_NAME: Final = "markers.yaml"
_HAS_BAR: Final = re.compile("[|\uff5c\u2016\u2581]")
_SAYS: Final = ("family", "models", "source", "seen")
_LISTS: Final = ("thinking", "frame", "calls", "opens")


class MarkerFamily(Struct, frozen=True):
    """One row: `thinking`, `frame` and `calls` are markers, `opens` words that open a text.

    `raw` are dialects whose wire carries them; `source` and `seen` are the evidence and its month.
    """

    family: str
    models: str
    source: str
    seen: str
    thinking: tuple[str, ...] = ()
    frame: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    opens: tuple[str, ...] = ()
    raw: tuple[str, ...] = ()


@cache
def marker_families() -> tuple[MarkerFamily, ...]:
    """Every family that ships, in the order of the file."""
    path = specs() / FILE_NAME
    built: tuple[MarkerFamily, ...] | None = built_value("markers", path)
    return read_families(document.load(path)) if built is None else built


def read_families(root: Node) -> tuple[MarkerFamily, ...]:
    """The rows of a document; a SpecError where it is none, or names a family twice."""
    root.mapping(known={"markers"})
    rows = root.required("markers").sequence()
    found: dict[str, MarkerFamily] = {}
    for row in rows:
        family = _read_family(row)
        if family.family in found:
            raise row.required("family").error(f"family {family.family!r} is listed twice")
        found[family.family] = family
    return tuple(found.values())


def _read_family(row: Node) -> MarkerFamily:
    entries = row.mapping(known={*_SAYS, *_LISTS, "raw"})
    if not entries.keys() & set(_LISTS):
        raise row.error(f"a family has at least one of {', '.join(_LISTS)}")
    given: dict[str, Any] = {key: row.required(key).string() for key in _SAYS}
    given |= {key: _texts(entries[key]) for key in (*_LISTS, "raw") if key in entries}
    return MarkerFamily(**given)


def _texts(node: Node) -> tuple[str, ...]:
    texts = tuple(each.string() for each in node.sequence())
    if not texts or not all(text.strip() for text in texts):
        raise node.error("expected a list of texts, none of them blank")
    return texts


@cache
def marker_knobs() -> Mapping[str, Any]:
    """What rules know of all families together, as knobs."""
    families = marker_families()
    thinking = _joined(families, "thinking")
    shown = list(dict.fromkeys([*thinking, *_joined(families, "frame")]))
    calls = _joined(families, "calls")
    return {
        "text_markers": shown,
        "call_markers": calls,
        "name_markers": list(dict.fromkeys([*shown, *calls])),
        "swallowed_calls": [text for each in calls for text in _before_calls(each)],
        "opening_words": _joined(families, "opens"),
        "marked_line": _marked_line(thinking, families),
        "marked_value": _marked_value(thinking),
    }


def _joined(families: tuple[MarkerFamily, ...], kind: str) -> list[str]:
    return list(dict.fromkeys(text for each in families for text in getattr(each, kind)))


def _before_calls(marker: str) -> list[str]:
    """A call marker as it is before what it calls.

    Thinking may well name a tag such as <tool_call>; a token that no tokenizer makes of ordinary
    text it does not.
    """
    if not (marker.startswith("<") and marker.endswith(">")) or _HAS_BAR.search(marker):
        return [marker]
    if marker.startswith("</"):
        return []
    return [f"{marker}{gap}{begin}" for gap in ("", "\n", " ") for begin in "{[<"]


def _marked_line(markers: list[str], families: tuple[MarkerFamily, ...]) -> str:
    """A regular expression for a line that begins or ends with one of the markers.

    So does one where text goes on right after a sentence and a marker. Markers that are bare words
    are left out: a line of thinking may begin with any word. What ends a turn counts at the end of
    the thinking, and tags that are words at its beginning and its end.
    """
    some = _one_of(each for each in markers if not each.isalpha())
    frame, words = _joined(families, "frame"), _joined(families, "opens")
    tags = [each for each in words if each.startswith("<") and each.endswith(">")]
    closing = [each for each in tags if each.startswith("</")]
    first = _one_of(each for each in tags if each not in closing)
    last = _one_of(each for each in (*frame, *closing) if not each.isalpha())
    inside = rf"^\s*({some})|({some})\s*$|[.!?]({some})\w"
    return rf"(?m){inside}|(?-m:^\s*({first}))|(?-m:({last})\s*$)"


def _one_of(texts: Iterable[str]) -> str:
    return "|".join(re.escape(each) for each in texts)


def _marked_value(markers: list[str]) -> str:
    """A regular expression for JSON with a text that begins or ends with one of the markers.

    A text that is nothing but a marker speaks of it. Within a text no quotation mark is without a
    backslash, so that code in it is not taken for a text of its own.
    """
    some = _one_of(each for each in markers if not each.isalpha())
    return rf'[:,\[]\s*"(\s|\\n)*({some})[^"]|[^"\\]({some})(\s|\\n)*"\s*[,\]}}]'
