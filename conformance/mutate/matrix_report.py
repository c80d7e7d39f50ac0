"""The matrix for people and programs: text, markdown, JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from conformance.core.columns import align_columns
from conformance.core.errors import UsageError
from conformance.editing.operator import FAMILIES
from conformance.mutate.client_defects import DEFECTS
from conformance.mutate.matrix import Matrix, Trial

_SHOWN: Final = 3  # rules named next to an operator
_VERSION: Final = "1.0"
_WORDS: Final = {"kill": "must be found", "pass": "must stay PASS", "either": "cannot be seen"}


def format_matrix(matrix: Matrix, form: str) -> str:
    """The matrix as `text`, `markdown` or `json`. Raises UsageError for another form."""
    if form not in _FORMS:
        raise UsageError(f"expected the format {', '.join(_FORMS)}, got {form!r}")
    return _FORMS[form](matrix)


def matrix_faults(matrix: Matrix) -> list[str]:
    """What is wrong, a line each: survivors, alarms, dead rules, stale allowances."""
    return [
        *(f"survivor: {trial.mutant} of {trial.base}" for trial in matrix.survivors),
        *(
            f"alarm: {trial.mutant} of {trial.base}: {', '.join(sorted(trial.new))}"
            for trial in matrix.alarms
        ),
        *(f"dead rule: {rule}" for rule in matrix.dead),
        *(f"stale allowance: {each.operator} ({each.reason})" for each in matrix.stale),
    ]


def matrix_summary(matrix: Matrix) -> str:
    """One line of counts."""
    known = [t for t in matrix.trials if t.outcome in ("killed", "survived", "allowed", "gap")]
    counts = {
        "mutants": len(matrix.trials),
        "to be found": len(known),
        "killed": len(matrix.of("killed")),
        "legal": len(matrix.of("allowed")),
        "known gaps": len(matrix.of("gap")),
        "survivors": len(matrix.survivors),
        "alarms": len(matrix.alarms),
        "dead rules": len(matrix.dead),
    }
    return ", ".join(f"{count} {what}" for what, count in counts.items())


def _as_text(matrix: Matrix) -> str:
    rows = [tuple(map(str, row)) for row in _operator_rows(matrix)]
    return "\n".join([*align_columns(rows), *matrix_faults(matrix), matrix_summary(matrix)])


def _operator_rows(matrix: Matrix) -> Iterator[tuple[str, int, int, str]]:
    """Operator, mutants, killed ones, and the rules that killed most.

    Dialects may share a name for the same defect: their operators are one row.
    """
    by_operator: dict[str, list[Trial]] = {}
    for trial in matrix.trials:
        by_operator.setdefault(trial.operator, []).append(trial)
    names = [*(each.name for each in matrix.operators), *(each.name for each in DEFECTS)]
    for name in dict.fromkeys(names):
        trials = by_operator.get(name, [])
        killed = sum(trial.outcome in ("killed", "seen") for trial in trials)
        ranked = sorted(matrix.kills(name).items(), key=lambda pair: (-pair[1], pair[0]))
        rules = [f"{rule} {count}" for rule, count in ranked[:_SHOWN]]
        more = [f"{len(ranked) - _SHOWN} more"] if len(ranked) > _SHOWN else []
        yield name, len(trials), killed, ", ".join([*rules, *more])


def _as_markdown(matrix: Matrix) -> str:
    lines = [
        "# Mutation matrix",
        "",
        "Written by `conformance mutate --matrix --format markdown`; do not edit.",
        "",
        f"Over {len(matrix.bases)} shipped recordings: {matrix_summary(matrix)}.",
        *_operator_tables(matrix),
        *_allowance_table(matrix),
        *_rule_table(matrix),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _operator_tables(matrix: Matrix) -> Iterator[str]:
    counts = {name: (made, killed, rules) for name, made, killed, rules in _operator_rows(matrix)}
    every: list[tuple[str, str, str]] = [
        *((each.name, each.says, _WORDS[each.must]) for each in matrix.operators),
        *((each.name, each.says, _WORDS["kill"]) for each in DEFECTS),
    ]
    # The first says it for all that share its name.
    known = list({row[0]: row for row in reversed(every)}.values())[::-1]
    for letter, family in FAMILIES.items():
        yield from ("", f"## {letter}: {family}", "")
        yield "| operator | what it does | outcome | mutants | found | by |"
        yield "|---|---|---|---|---|---|"
        for name, says, outcome in known:
            if name[0] == letter:
                made, killed, rules = counts[name]
                yield f"| `{name}` | {says} | {outcome} | {made} | {killed} | {rules or '-'} |"


def _allowance_table(matrix: Matrix) -> Iterator[str]:
    yield from ("", "## Mutants that may live", "")
    yield "| operator | where | why | missing rule |"
    yield "|---|---|---|---|"
    for each in matrix.allowances:
        knobs = [f"{k}: {' or '.join(map(_knob_value, v))}" for k, v in each.knobs.items()]
        places = [p for p in (each.base, each.profile) if p != "*"]
        where = ", ".join([*places, *knobs]) or "everywhere"
        yield f"| `{each.operator}` | {where} | {each.reason} | {each.missing or '-'} |"


def _rule_table(matrix: Matrix) -> Iterator[str]:
    found = {rule: [t for t in matrix.trials if rule in t.new] for rule in matrix.rules}
    yield from ("", "## Rules", "")
    yield "Alone: mutants on which no other rule fails. Derived: mutants made from rules."
    yield ""
    yield "| rule | fails on | alone | of them derived | of them shipped |"
    yield "|---|---|---|---|---|"
    for rule, trials in found.items():
        alone = sum(len(trial.new) == 1 for trial in trials)
        derived = sum(trial.operator.startswith("rule:") for trial in trials)
        shipped = sum(trial.operator == "shipped" for trial in trials)
        yield f"| {rule} | {len(trials)} | {alone} | {derived} | {shipped} |"


def _as_json(matrix: Matrix) -> str:
    value: dict[str, Any] = {
        "matrix": _VERSION,
        "bases": list(matrix.bases),
        "operators": {
            name: {
                "mutants": made,
                "killed": killed,
                "rules": dict(sorted(matrix.kills(name).items())),
            }
            for name, made, killed, _ in _operator_rows(matrix)
        },
        "survivors": _trial_values(matrix.survivors),
        "alarms": _trial_values(matrix.alarms),
        "gaps": _trial_values(matrix.of("gap")),
        "dead": list(matrix.dead),
        "never_alone": list(matrix.never_alone),
        "stale": [each.operator for each in matrix.stale],
    }
    return json.dumps(value, indent=2)


def _trial_values(trials: Iterable[Trial]) -> list[Mapping[str, Any]]:
    return [
        {"mutant": t.mutant, "base": t.base, "rules": sorted(t.new), "reason": t.reason}
        for t in trials
    ]


def _knob_value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


_FORMS: Final[Mapping[str, Callable[[Matrix], str]]] = {
    "text": _as_text,
    "markdown": _as_markdown,
    "json": _as_json,
}
