"""Compares two shapes: one change per line, complete enough to need no further look."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, Final, Literal

from msgspec import Struct

from conformance.diff.fields import FieldShape, parent_path
from conformance.diff.order import StepOrder, common_length, order_edits
from conformance.diff.shape import ExchangeShape
from conformance.profiles.knobs import spell_value
from conformance.rules.patterns import same
from conformance.rules.verdicts import Verdict

ChangeKind = Literal[
    "recording", "exchange", "fact", "event", "order", "field", "knob", "verdict", "text"
]

_BAD: Final = (Verdict.FAIL, Verdict.ERROR)
_MANY: Final = 8  # events of a type that became one, or came from one
_CHANCE: Final = frozenset({"created"})  # knobs that a clock decides: a second passes or does not
_AROUND: Final = 80  # characters of a text shown where it begins to differ


class WireChange(Struct, frozen=True):
    """One difference; `before` or `now` is empty where there was nothing to say."""

    kind: ChangeKind
    what: str
    before: str
    now: str


def shape_changes(
    old: ExchangeShape, new: ExchangeShape, *, with_text: bool
) -> tuple[WireChange, ...]:
    """What differs, the coarsest first."""
    changes = chain(
        _fact_changes(old, new),
        _type_changes(old, new),
        _order_changes("wire", old.wire, new.wire, set(old.counts) ^ set(new.counts)),
        _order_changes("semantic", old.semantic, new.semantic, set()),
        _field_changes(old, new),
        _knob_changes(old.knobs, new.knobs),
        _verdict_changes(old, new),
        _text_changes(old, new) if with_text else (),
    )
    return tuple(changes)


def _fact_changes(old: ExchangeShape, new: ExchangeShape) -> Iterator[WireChange]:
    for name in dict.fromkeys((*old.facts, *new.facts)):
        before, now = old.facts.get(name, ""), new.facts.get(name, "")
        # A fact that one recording lacks is not a change.
        if before != now and (name == "framing" or (before and now)):
            yield WireChange("fact", name, before, now)


def _type_changes(old: ExchangeShape, new: ExchangeShape) -> Iterator[WireChange]:
    for kind in sorted(old.counts.keys() | new.counts.keys()):
        before, now = old.counts.get(kind, 0), new.counts.get(kind, 0)
        few, many = sorted((before, now))
        if not few or (few == 1 and many >= _MANY):
            yield WireChange("event", kind, _times_text(before), _times_text(now))


def _times_text(number: int) -> str:
    return f"{number} times" if number > 1 else ("once" if number else "")


def _order_changes(
    layer: str, old: StepOrder, new: StepOrder, gone: set[str]
) -> Iterator[WireChange]:
    for edit in order_edits(old.collapsed_steps(), new.collapsed_steps()):
        # A type that only one side has was reported already.
        if gone and {*edit.before, *edit.now} <= gone:
            continue
        after = f"{layer}, after {edit.after}" if edit.after else f"{layer}, at the beginning"
        yield WireChange("order", after, " ".join(edit.before), " ".join(edit.now))


def _field_changes(old: ExchangeShape, new: ExchangeShape) -> Iterator[WireChange]:
    for path in sorted(old.fields.paths.keys() | new.fields.paths.keys()):
        before, now = old.fields.paths.get(path), new.fields.paths.get(path)
        if before is None or now is None:
            # A field is missing only where the object is there that could hold it.
            if all(path[:-1] in each.fields.objects for each in (old, new)):
                yield WireChange("field", _field_name(path), _kinds_text(before), _kinds_text(now))
        else:
            yield from _value_changes(path, before, now)
            yield from _presence_changes(path, old, new)


def _kinds_text(field: FieldShape | None) -> str:
    return " or ".join(sorted(field.kinds)) if field else ""


def _value_changes(
    path: tuple[str, ...], before: FieldShape, now: FieldShape
) -> Iterator[WireChange]:
    if before.kinds != now.kinds:
        yield WireChange("field", _field_name(path), _kinds_text(before), _kinds_text(now))
    if before.words and now.words and before.words != now.words:
        old, new = (", ".join(sorted(each.words)) for each in (before, now))
        yield WireChange("field", _field_name(path), old, new)


def _presence_changes(
    path: tuple[str, ...], old: ExchangeShape, new: ExchangeShape
) -> Iterator[WireChange]:
    """A field that was in every object and now is not, or the other way round."""
    counts = [(each.fields.paths[path].count, _holder_count(path, each)) for each in (old, new)]
    if any(holders < 2 for _, holders in counts):
        return  # a single object proves nothing
    before, now = ("always" if count >= holders else "at times" for count, holders in counts)
    if before != now:
        yield WireChange("field", _field_name(path), f"there {before}", f"there {now}")


def _holder_count(path: tuple[str, ...], shape: ExchangeShape) -> int:
    return shape.fields.objects.get(parent_path(path, shape.fields.objects), 0)


def _field_name(path: tuple[str, ...]) -> str:
    return f"{path[0]}: {'.'.join(path[1:])}"


def _knob_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[WireChange]:
    # A knob that only one stream shows is not a change of the wire: only that one had occasion.
    for knob in sorted((old.keys() & new.keys()) - _CHANCE):
        if not same(old[knob], new[knob]):
            yield WireChange("knob", knob, spell_value(old[knob]), spell_value(new[knob]))


def _verdict_changes(old: ExchangeShape, new: ExchangeShape) -> Iterator[WireChange]:
    for rule in sorted(old.verdicts.keys() | new.verdicts.keys()):
        before, now = old.verdicts.get(rule), new.verdicts.get(rule)
        # Whether a rule had occasion to fire is chance; whether it was broken is not.
        if (before in _BAD or now in _BAD) and before != now:
            yield WireChange("verdict", rule, str(before or ""), str(now or ""))


def _text_changes(old: ExchangeShape, new: ExchangeShape) -> Iterator[WireChange]:
    for name in sorted(old.texts.keys() | new.texts.keys()):
        before, now = ("".join(each.texts.get(name, ())) for each in (old, new))
        if before != now:
            at = common_length(before, now)
            start = max(0, at - _AROUND // 2)
            shown = [repr(text[start : start + _AROUND]) for text in (before, now)]
            yield WireChange("text", f"{name}, character {at}", *shown)
