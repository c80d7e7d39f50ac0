"""Who sent a stream and how it speaks, as text for people and as JSON for programs.

`schemas/identity.schema.json` describes the JSON; keys may be added within version 1.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from msgspec.structs import asdict

from conformance.identify import Identity
from conformance.profiles.knobs import spell_value
from conformance.recordings.identification import ExchangeIdentification, StrictDeviation
from conformance.report.printable import LABELLED, labelled_lines, visible
from conformance.rules.patterns import same

VERSION: Final = "1.0"
_VALUE: Final = 80  # characters of a knob's value


def identity_text(found: Sequence[ExchangeIdentification]) -> str:
    """One block per exchange; ends with a line feed."""
    blocks = ("\n".join(_exchange_lines(each)) for each in found)
    return "\n\n".join(blocks) + "\n"


def identity_json(found: Iterable[ExchangeIdentification]) -> str:
    """One JSON object, indented, ASCII only."""
    exchanges = [_exchange_object(each) for each in found]
    return json.dumps({"identity": VERSION, "exchanges": exchanges}, indent=2) + "\n"


def _exchange_lines(one: ExchangeIdentification) -> Iterator[str]:
    identity = one.identity
    yield f"{visible(one.file)}, exchange {one.exchange}"
    yield LABELLED.format("dialect", identity.dialect)
    yield from labelled_lines("profile", [_profile_text(identity)])
    yield from labelled_lines(
        "also", [f"{name}: {_joined_signs(s)}" for name, s in identity.rivals.items()]
    )
    yield from labelled_lines("knobs", list(_knob_lines(one)))
    yield from labelled_lines(
        "private", [f"{visible(path)}: text that no reader knows" for path in identity.private]
    )
    yield from labelled_lines("strict", [_deviation_text(each) for each in one.deviations])


def _profile_text(identity: Identity) -> str:
    if identity.profile is None:
        return "none: no fingerprint identifies the sender"
    sure = "" if identity.certainty == "certain" else " (a guess)"
    return f"{visible(identity.profile)}{sure}: {_joined_signs(identity.signs)}"


def _joined_signs(signs: Sequence[str]) -> str:
    return visible("; ".join(signs), 4 * _VALUE)


def _knob_lines(one: ExchangeIdentification) -> Iterator[str]:
    """Every knob that was seen, with the strict value where that is another and no mere `any`."""
    for knob, value in one.identity.knobs.items():
        strict = one.strict.knobs.get(knob)
        setting = f"{knob}: {visible(spell_value(value), _VALUE)}"
        plain = strict == "any" or same(value, strict)
        yield setting if plain else f"{setting} (strict: {visible(spell_value(strict), _VALUE)})"


def _deviation_text(one: StrictDeviation) -> str:
    head = f"{visible(one.rule)} fails"
    if one.knob is None:
        return f"{head}; no knob allows it"
    return f"{head}; knob {one.knob}: {visible(spell_value(one.value), _VALUE)} allows it"


def _exchange_object(one: ExchangeIdentification) -> dict[str, Any]:
    strict = one.strict.knobs
    return {
        "file": one.file,
        "exchange": one.exchange,
        **asdict(one.identity),
        "knobs": {
            knob: {"value": value, "strict": strict.get(knob)}
            for knob, value in one.identity.knobs.items()
        },
        "deviations": [asdict(each) for each in one.deviations],
    }
