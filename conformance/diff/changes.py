"""Two shapes compared: one change a line, told so that the reader need not look further."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, Literal

from conformance.diff.fields import Field, parent
from conformance.diff.order import edits
from conformance.diff.shape import Shape
from conformance.rules.patterns import same
from conformance.rules.verdicts import Verdict

Kind = Literal[
    "recording", "exchange", "fact", "event", "order", "field", "knob", "verdict", "text"
]

_BAD: Final = (Verdict.FAIL, Verdict.ERROR)
_MANY: Final = 8  # events of a type that became one, or came from one
_CHANCE: Final = frozenset({"created"})  # knobs that a clock decides: a second passes or does not
_AROUND: Final = 40  # characters of a text shown where it begins to differ


@dataclass(frozen=True, slots=True)
class Change:
    """One difference; `before` or `now` is empty where there was nothing to say."""

    kind: Kind
    what: str
    before: str
    now: str


def changes(old: Shape, new: Shape, *, with_text: bool = False) -> tuple[Change, ...]:
    """What differs, the coarsest first."""
    found = chain(
        _facts(old, new),
        _types(old, new),
        _order("wire", old.wire, new.wire, _gone(old, new)),
        _order("semantic", old.semantic, new.semantic, frozenset()),
        _fields(old, new),
        _knobs(old.knobs, new.knobs),
        _verdicts(old, new),
        _texts(old, new) if with_text else (),
    )
    return tuple(found)


def _facts(old: Shape, new: Shape) -> Iterator[Change]:
    for name in dict.fromkeys((*old.facts, *new.facts)):
        before, now = old.facts.get(name, ""), new.facts.get(name, "")
        # What one recording did not keep is no change.
        if before != now and (name == "framing" or (before and now)):
            yield Change("fact", name, before, now)


def _gone(old: Shape, new: Shape) -> frozenset[str]:
    return frozenset(old.counts.keys() ^ new.counts.keys())


def _types(old: Shape, new: Shape) -> Iterator[Change]:
    for kind in sorted(old.counts.keys() | new.counts.keys()):
        before, now = old.counts.get(kind, 0), new.counts.get(kind, 0)
        few, many = sorted((before, now))
        if not few or (few == 1 and many >= _MANY):
            yield Change("event", kind, _times(before), _times(now))


def _times(number: int) -> str:
    return f"{number} times" if number > 1 else ("once" if number else "")


def _order(
    layer: str, old: tuple[str, ...], new: tuple[str, ...], gone: frozenset[str]
) -> Iterator[Change]:
    for edit in edits(old, new):
        # A type that only one side has was told already.
        if gone and {*edit.before, *edit.now} <= gone:
            continue
        after = f"{layer}, after {edit.after}" if edit.after else f"{layer}, at the beginning"
        yield Change("order", after, " ".join(edit.before), " ".join(edit.now))


def _fields(old: Shape, new: Shape) -> Iterator[Change]:
    for path in sorted(old.fields.paths.keys() | new.fields.paths.keys()):
        before, now = old.fields.paths.get(path), new.fields.paths.get(path)
        if before is None or now is None:
            if all(_has_parent(path, each) for each in (old, new)):
                yield Change("field", _name(path), _shown(before), _shown(now))
        else:
            yield from _field(path, before, now)
            yield from _presence(path, old, new)


def _has_parent(path: tuple[str, ...], shape: Shape) -> bool:
    """A field is missing only where the object is there that could hold it."""
    return path[:-1] in shape.fields.objects


def _shown(field: Field | None) -> str:
    return " or ".join(sorted(field.kinds)) if field else ""


def _field(path: tuple[str, ...], before: Field, now: Field) -> Iterator[Change]:
    if before.kinds != now.kinds:
        yield Change("field", _name(path), _shown(before), _shown(now))
    if before.words and now.words and before.words != now.words:
        yield Change("field", _name(path), _listed(before.words), _listed(now.words))


def _presence(path: tuple[str, ...], old: Shape, new: Shape) -> Iterator[Change]:
    """A field that stood in every object and now does not, or the other way round."""
    counts = [(each.fields.paths[path].seen, _holders(path, each)) for each in (old, new)]
    if any(holders < 2 for _, holders in counts):
        return  # once is no habit
    before, now = ("always" if seen >= holders else "at times" for seen, holders in counts)
    if before != now:
        yield Change("field", _name(path), f"there {before}", f"there {now}")


def _holders(path: tuple[str, ...], shape: Shape) -> int:
    return shape.fields.objects.get(parent(path, shape.fields.objects), 0)


def _listed(words: set[str]) -> str:
    return ", ".join(sorted(words))


def _name(path: tuple[str, ...]) -> str:
    return f"{path[0]}: {'.'.join(path[1:])}"


def _knobs(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    # A knob that one stream did not show is no change of the wire: the other simply had occasion.
    for knob in sorted((old.keys() & new.keys()) - _CHANCE):
        if not same(old[knob], new[knob]):
            yield Change("knob", knob, _value(old[knob]), _value(new[knob]))


def _value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_value, value)) or "nothing"
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def _verdicts(old: Shape, new: Shape) -> Iterator[Change]:
    for rule in sorted(old.verdicts.keys() | new.verdicts.keys()):
        before, now = old.verdicts.get(rule), new.verdicts.get(rule)
        # Whether a rule had occasion to fire is chance; whether it was broken is not.
        if (before in _BAD or now in _BAD) and before != now:
            yield Change("verdict", rule, str(before or ""), str(now or ""))


def _texts(old: Shape, new: Shape) -> Iterator[Change]:
    for name in sorted(old.texts.keys() | new.texts.keys()):
        before, now = old.texts.get(name, ""), new.texts.get(name, "")
        if before != now:
            at = _first_difference(before, now)
            start = max(0, at - _AROUND // 2)
            shown = [repr(text[start : start + _AROUND]) for text in (before, now)]
            yield Change("text", f"{name}, character {at}", *shown)


def _first_difference(before: str, now: str) -> int:
    pairs = enumerate(zip(before, now, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(before), len(now)))
