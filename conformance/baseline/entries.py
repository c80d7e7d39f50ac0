"""The file of a baseline: entries with rule, target, exchange and the reason."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Final

from msgspec import Struct

from conformance.core.errors import Place
from conformance.rules import document
from conformance.rules.node import Node, shown

_KEYS: Final = frozenset({"entries", "target"})
_ENTRY_KEYS: Final = frozenset(
    {"rule", "target", "exchange", "finding", "reason", "until", "flaky"}
)
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_FLAKY: Final = re.compile(r"([0-9]{1,9})/([0-9]{1,9})")
# What people write to satisfy a required field.
_NO_REASON: Final = frozenset({"", "todo", "tbd", "fixme", "reason"})
_ANY: Final = "*"
_NO_WORD: Final = re.compile(r"[\W_]+")


class BaselineEntry(Struct, frozen=True):
    """One expected violation, of one rule in one exchange.

    `finding` pins the id of a finding, or of its group. `until` is the last day on which the entry
    holds. `flaky` (`1/3`: failed once in three runs) lets the rule pass, too. A `*` in rule, target
    or exchange matches any text: such a pattern expects all matches, and at least one violation.
    """

    rule: str
    target: str
    exchange: str
    reason: str
    place: Place
    finding: str = ""
    until: date | None = None
    flaky: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        return self.rule, self.target, self.exchange

    @property
    def is_pattern(self) -> bool:
        return any(_ANY in name for name in self.key)


def fits(pattern: str, name: str) -> bool:
    """Whether a name matches a pattern, in which `*` matches any text."""
    first, *others = pattern.split(_ANY)
    if not others:
        return pattern == name
    *middle, last = others
    at, end = len(first), len(name) - len(last)
    if at > end or not (name.startswith(first) and name.endswith(last)):
        return False
    for part in middle:
        at = name.find(part, at, end)
        if at < 0:
            return False
        at += len(part)
    return True


class Baseline(Struct, frozen=True):
    """All entries of a file. `target` is what recordings that name none are recordings of."""

    file: str
    entries: tuple[BaselineEntry, ...] = ()
    target: str = ""


def load_baseline(path: Path | str) -> Baseline:
    """The baseline in a file. Raises SpecError at the first thing that is wrong."""
    root = document.load(path)
    keys = root.mapping(_KEYS)
    target = keys["target"].string() if "target" in keys else ""
    nodes = root.required("entries").sequence()
    entries = tuple(entry for node in nodes for entry in _read_entries(node, target))
    _refuse_twins(entries, root)
    return Baseline(str(path), entries, target)


def _read_entries(node: Node, target: str) -> Iterator[BaselineEntry]:
    """One entry for each exchange that is listed."""
    keys = node.mapping(_ENTRY_KEYS)
    own = keys["target"].string() if "target" in keys else target
    if not own:
        raise node.error("key 'target' is missing", hint="here, or once next to 'entries'")
    rule, reason = node.required("rule").string(), _read_reason(node.required("reason"))
    for exchange in _listed_exchanges(node.required("exchange")):
        yield BaselineEntry(
            rule=rule,
            target=own,
            exchange=_read_name(exchange),
            reason=reason,
            place=exchange.place,
            finding=_read_name(keys["finding"]) if "finding" in keys else "",
            until=_read_date(keys["until"]) if "until" in keys else None,
            flaky=_read_share(keys["flaky"]) if "flaky" in keys else "",
        )


def _listed_exchanges(node: Node) -> tuple[Node, ...]:
    if node.kind != "sequence":
        return (node,)
    if not node.sequence():
        raise node.error("expected at least one exchange")
    return node.sequence()


def _read_name(node: Node) -> str:
    """A number that needs no quotes is a name all the same."""
    if isinstance(node.value, float):
        raise node.error("expected a string, got a number", hint="put it in quotes")
    return str(node.value) if type(node.value) is int else node.string()


def is_reason(text: str) -> bool:
    """Whether a text says anything; `TODO` and blanks do not."""
    return _NO_WORD.sub("", text).lower() not in _NO_REASON


def _read_reason(node: Node) -> str:
    text = node.string()
    if not is_reason(text):
        raise node.error(f"expected a reason, got {shown(text)}")
    return text


def _read_date(node: Node) -> date:
    text = node.string()
    try:
        if _DATE.fullmatch(text):
            return date.fromisoformat(text)
    except ValueError:
        pass  # a day outside the calendar gets the same error as any other text
    raise node.error(f"expected a date like 2027-03-01, got {shown(text)}")


def _read_share(node: Node) -> str:
    text = node.string()
    match = _FLAKY.fullmatch(text)
    if match is None or not 0 < int(match[1]) < int(match[2]):
        hint = "the failing runs of all that were seen"
        raise node.error(f"expected a share like 1/3, got {shown(text)}", hint=hint)
    return text


def _refuse_twins(entries: tuple[BaselineEntry, ...], root: Node) -> None:
    """An unpinned entry covers every finding, so it stands alone."""
    seen: dict[tuple[str, str, str], list[BaselineEntry]] = {}
    for entry in entries:
        others = seen.setdefault(entry.key, [])
        for twin in others:
            if "" in (entry.finding, twin.finding) or entry.finding == twin.finding:
                at, first = entry.place, twin.place.line
                message = f"{entry.rule!r} in {entry.exchange!r} already appears in line {first}"
                raise root.source.error(at.line or 0, at.column or 0, message)
        others.append(entry)
