"""Mistakes in suites that load: rules that cannot fire, cannot fail, or lack an authority.

Rule 1: an error is a rule that is wrong for any stream; a warning is one that may be intended.
Rule 2: one mistake is reported once, at the place where it is fixed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct, field

from conformance.core.errors import Place, SpecError
from conformance.core.events import Vocabulary
from conformance.rules.language import grammar_faults
from conformance.rules.lint_events import event_faults
from conformance.rules.lint_knobs import knob_faults
from conformance.rules.lint_texts import authority_faults, text_faults
from conformance.rules.load import joined_vocabulary
from conformance.rules.model import Rule, Suite
from conformance.rules.names import Names
from conformance.rules.node import Node

Severity = Literal["error", "warning"]


class Problem(Struct, frozen=True):
    """One mistake in a file, as one line for its author. `code` names a kind that docs explain."""

    place: Place
    message: str
    severity: Severity
    code: str = ""


class Known(Struct, frozen=True):
    """What rules may refer to, and which rule files ship.

    `vocabularies` gives a dialect's vocabulary by name. `knobs` holds, per dialect, the allowed
    values of each declared knob; an empty tuple if any value is allowed. `version` is that of the
    package. `ships` decides whether a file ships: its rules bind others, so they need a public
    authority.
    """

    vocabularies: Callable[[str], Vocabulary]
    knobs: Mapping[str, Mapping[str, tuple[Any, ...]]] = field(default_factory=dict)
    version: str = "0.0.0"
    ships: Callable[[str], bool] = lambda _file: True


def lint_suite(suite: Suite, root: Node, known: Known) -> list[Problem]:
    """Problems of one suite. `root` is the document that it was read from."""
    found = [*_alias_faults(suite, root, known)]
    for rule, node in zip(suite.rules, root.required("rules").sequence(), strict=True):
        found += (
            Problem(e.place or node.place, _error_text(e), s)
            for s, e in _rule_faults(rule, node, known)
        )
    return found


def lint_together(suites: Sequence[tuple[Suite, Node]]) -> list[Problem]:
    """Problems between suites: two of one name, two rules that say the same."""
    found: list[Problem] = []
    ids: dict[str, Place] = {}
    first_by_sentence: dict[str, tuple[str, Place]] = {}
    for suite, root in suites:
        node = root.required("suite")
        if suite.id in ids:
            text = f"suite {suite.id!r} is already in {ids[suite.id]}"
            found.append(Problem(node.place, text, "error"))
            continue
        ids[suite.id] = node.place
        for rule, each in zip(suite.rules, root.required("rules").sequence(), strict=True):
            place = each.required("says").place
            rule_id, first = first_by_sentence.setdefault(rule.says.casefold(), (rule.id, place))
            if rule_id != rule.id:
                text = f"rule {rule_id} says the same, in {first}"
                found.append(Problem(place, text, "error"))
    return found


def _rule_faults(rule: Rule, node: Node, known: Known) -> Iterator[tuple[Severity, SpecError]]:
    yield from text_faults(rule, node, known.version)
    if known.ships(node.source.file):
        yield from authority_faults(rule, node)
    yield from event_faults(rule, node)
    yield from grammar_faults(rule, node)
    yield from knob_faults(rule, node, known.knobs)


def _alias_faults(suite: Suite, root: Node, known: Known) -> Iterator[Problem]:
    names = Names(joined_vocabulary(suite.dialects, known.vocabularies))
    used = {alias for rule in suite.rules for alias in (*rule.aliases, *rule.subject)}
    events = root.get("events")
    for name in events.mapping() if events else ():
        place = root.required("events").key(name).place
        layers = names.layers_of(name)
        if layers:
            yield Problem(place, f"event {name!r} has the name of a {layers[0]} type", "error")
        if name not in used:
            yield Problem(place, f"no rule uses event {name!r}", "warning")


def _error_text(error: SpecError) -> str:
    return f"{error.message} ({error.hint})" if error.hint else error.message
