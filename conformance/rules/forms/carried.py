"""A table's row for one event, compiled: the keys of its payload, each with its types.

Rule 1: a field that may not be `absent` is required, and so are the objects that it is in. If an
optional object is absent, nothing inside it is required.
Rule 2: where an optional key is absent, no other key may be a misspelling of it. Keys of vendors
are legal, and so is a misspelt one with an empty value.
Rule 3: of the elements of a list, `*` in a path is each of them, `*kind` each whose `type` is
`kind`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from msgspec import Struct

from conformance.rules.paths import MISSING
from conformance.rules.resemblance import resembled

ABSENT: Final = "absent"
FILLED: Final = "filled"  # a text that is not empty
COUNT: Final = "count"  # a number that counts: whole, and not below zero
KINDS: Final[Mapping[str, tuple[type, ...]]] = {
    "text": (str,),
    FILLED: (str,),
    "object": (dict,),
    "list": (list,),
    "number": (int, float),
    COUNT: (int, float),
    "boolean": (bool,),
    "null": (type(None),),
    "value": (str, dict, list, int, float, bool, type(None)),
    ABSENT: (type(MISSING),),
}
"""What may be at a path, as a table says it: the types of decoded JSON."""
_STRICT: Final = {FILLED: "text", COUNT: "number"}  # a kind within a wider one
_VALUES: Final = ("text", "object", "list", "number", "boolean", "null")
_SHOWN: Final = {
    FILLED: "text that is not empty",
    COUNT: "a whole number from 0",
    "object": "an object",
    "list": "a list",
    "value": "a value",
}
_FOUND: Final[Mapping[type, str]] = {
    str: "text",
    dict: "an object",
    list: "a list",
    int: "a number",
    float: "a number",
    bool: "a boolean",
    type(None): "null",
    type(MISSING): "nothing",
}
_MOST_HARMLESS: Final = 256  # keys of vendors that are remembered as such, by object
_LONGEST_KEY: Final = 60  # characters of a key in a message


class CarriedField(Struct, frozen=True):
    """One row of a table: the allowed kinds, and words that other keys there must not misspell."""

    kinds: tuple[str, ...]
    words: tuple[str, ...] = ()

    @property
    def types(self) -> frozenset[type]:
        return frozenset(each for kind in self.kinds for each in KINDS[kind])

    def both(self, other: CarriedField) -> CarriedField:
        """What two rows of one path say together."""
        mine, theirs = _spelled_out(self.kinds), _spelled_out(other.kinds)
        kinds = [kind for kind in mine if kind in theirs]
        for strict, wide in _STRICT.items():
            if strict in (*mine, *theirs) and wide in kinds:
                kinds[kinds.index(wide)] = strict
        return CarriedField(tuple(dict.fromkeys(kinds)), (*self.words, *other.words))

    @property
    def wanted(self) -> str:
        """The expected kinds, in words."""
        kinds = [_SHOWN.get(kind, kind) for kind in self.kinds if kind != ABSENT]
        return " or ".join(kinds) or "nothing"


class CarriedFault(NamedTuple):
    """A fault at a path; `note` describes what is there instead."""

    path: str
    wanted: str
    found: str
    note: str = ""


def _spelled_out(kinds: Sequence[str]) -> tuple[str, ...]:
    """The kinds, with wider ones expanded."""
    wider = {"value": _VALUES, **{strict: (wide, strict) for strict, wide in _STRICT.items()}}
    return tuple(each for kind in kinds for each in wider.get(kind, (kind,)))


Rows = Sequence[tuple[tuple[str, ...], CarriedField]]
"""Paths, cut into segments, with what may be there."""


class CarriedValue:
    """The values allowed at one place of a payload, with those inside."""

    def __init__(self, rows: Rows) -> None:
        own = [field for path, field in rows if not path]
        inner = [(path, field) for path, field in rows if path]
        keys = _by_segment((path, field) for path, field in inner if path[0][0] != "*")
        elements = _by_segment((path, field) for path, field in inner if path[0][0] == "*")
        self.keys: dict[str, CarriedValue] = {k: CarriedValue(rest) for k, rest in keys.items()}
        self.elements = {key[1:]: CarriedValue(rest) for key, rest in elements.items()}
        self.required = frozenset(k for k, v in self.keys.items() if type(MISSING) not in v.types)
        self.field = own[0] if own else self._implied_field()
        self.types: frozenset[type] = self.field.types
        self._entries = {key: (each.types, each.check()) for key, each in self.keys.items()}
        self._harmless: set[str] = set()
        is_strict = len(self.required) == len(self.keys)
        # Whether nothing is wrong with an object: a quick answer, as hardly ever something is.
        self.is_sound: Callable[[Mapping[str, Any]], bool] = (
            self._holds_all if is_strict else self._holds_what_is_right
        )

    def _implied_field(self) -> CarriedField:
        """What has no row of its own, but holds what has one (rule 1)."""
        kind = "list" if self.elements else "object"
        return CarriedField((kind,) if self.required else (kind, "null", ABSENT))

    def check(self) -> Callable[[Any], bool] | None:
        """Whether a value of a right type is right in itself; None where its type is enough."""
        if self.keys and self.types == {dict}:
            return self.is_sound
        if self.keys or self.elements or self.field.words or _STRICT.keys() & self.field.kinds:
            return self._is_right
        return None

    def _is_right(self, value: Any) -> bool:
        """As `check`, for values of several types."""
        if value.__class__ is dict:
            return not self.keys or self.is_sound(value)
        if value.__class__ is list:
            return not self.elements or all(map(self._is_right_element, value))
        if value.__class__ is str:
            return (bool(value) or FILLED not in self.field.kinds) and not self._meant_word(value)
        return COUNT not in self.field.kinds or _is_count(value)

    def _is_right_element(self, element: Any) -> bool:
        """Rule 3."""
        if element.__class__ is not dict:
            return False
        kind = element.get("type")
        for name, known in self.elements.items():
            if name in ("", kind) and not known.is_sound(element):
                return False
        return True

    def _holds_all(self, value: Mapping[str, Any]) -> bool:
        """Whether an object is sound of whose keys none may be absent: no other key matters."""
        for key, (types, check) in self._entries.items():
            held = value.get(key, MISSING)
            if held.__class__ not in types or (check is not None and not check(held)):
                return False
        return True

    def _holds_what_is_right(self, value: Mapping[str, Any]) -> bool:
        """Whether an object is sound of whose keys some may be absent (rule 2)."""
        entries = self._entries
        for key, held in value.items():
            entry = entries.get(key)
            if entry is None:
                if key not in self._harmless and not self._is_harmless(key, value):
                    return False
            elif held.__class__ not in entry[0] or (entry[1] is not None and not entry[1](held)):
                return False
        return not self.required or self.required <= value.keys()

    def _is_harmless(self, key: str, value: Mapping[str, Any]) -> bool:
        """Whether a key that has no row is not one that has, misspelt."""
        if resembled(key, tuple(self.keys)):
            return not self._misspelt_key(key, value)
        if len(self._harmless) < _MOST_HARMLESS:
            self._harmless.add(key)
        return True

    def _misspelt_key(self, key: str, value: Mapping[str, Any]) -> str:
        """The absent key that this one is, misspelt (rule 2); empty where it is none."""
        near = resembled(key, tuple(name for name in self.keys if name not in value))
        held = value[key]
        return near if near and held and held.__class__ in self.keys[near].types else ""

    def faults(self, value: Any, path: str) -> Iterator[CarriedFault]:
        """Everything that is wrong with an object."""
        for key in [each for each in value if each not in self.keys]:
            if near := self._misspelt_key(key, value):
                where = f"{path}.{near}" if path else near
                yield CarriedFault(
                    where, self.keys[near].field.wanted, "nothing", _present_text(key)
                )
        for key, known in self.keys.items():
            held, where = value.get(key, MISSING), f"{path}.{key}" if path else key
            if held.__class__ not in known.types:
                note = self._key_instead(key, value) if held is MISSING else ""
                yield CarriedFault(where, known.field.wanted, found_of(held), note)
            elif held is not MISSING:
                yield from known.inner_faults(held, where)

    def _key_instead(self, key: str, value: Mapping[str, Any]) -> str:
        """Which key is there instead of one that is missing: the same misspelt, or the only one."""
        others = [each for each in value if each not in self.keys]
        near = [each for each in others if resembled(each, (key,))]
        only = others if len(others) == 1 and isinstance(value[others[0]], str) else []
        return next(map(_present_text, near or only), "")

    def inner_faults(self, held: Any, where: str) -> Iterator[CarriedFault]:
        """The faults within a value of an allowed type."""
        field = self.field
        if isinstance(held, dict):
            if self.keys and not self.is_sound(held):
                yield from self.faults(held, where)
        elif isinstance(held, list):
            yield from self._element_faults(held, where)
        elif held == "" and FILLED in field.kinds:
            yield CarriedFault(where, field.wanted, "an empty text")
        elif isinstance(held, str) and (near := self._meant_word(held)):
            yield CarriedFault(where, near, repr(held[:_LONGEST_KEY]))
        elif COUNT in field.kinds and not _is_count(held):
            yield CarriedFault(where, field.wanted, str(held))

    def _meant_word(self, held: str) -> str:
        """The known word that a text misspells; empty where it is one, or is like none."""
        return "" if held in self.field.words else resembled(held, self.field.words)

    def _element_faults(self, held: list[Any], where: str) -> Iterator[CarriedFault]:
        """Rule 3."""
        for number, element in enumerate(held if self.elements else ()):
            place = f"{where}.{number}"
            if not isinstance(element, dict):
                yield CarriedFault(place, "an object", found_of(element))
                continue
            kind = element.get("type")
            for name, known in self.elements.items():
                if name in ("", kind) and not known.is_sound(element):
                    yield from known.faults(element, place)


def _is_count(value: Any) -> bool:
    """Whether a number counts something; what is none has another kind of its row."""
    return not isinstance(value, int | float) or (value >= 0 and value % 1 == 0)


def found_of(value: Any) -> str:
    """The type of a value, in words."""
    return _FOUND.get(value.__class__, "a value")


def _present_text(key: str) -> str:
    return f"a key {key[:_LONGEST_KEY]!r} is there"


def _by_segment(
    rows: Iterator[tuple[tuple[str, ...], CarriedField]],
) -> dict[str, list[tuple[tuple[str, ...], CarriedField]]]:
    """Rows by the first segment of their path, without it."""
    found: dict[str, list[tuple[tuple[str, ...], CarriedField]]] = {}
    for path, field in rows:
        found.setdefault(path[0], []).append((path[1:], field))
    return found
