"""The rule language as data: what another implementation must agree with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from conformance.rules import document
from conformance.rules.compiled import Outcome
from conformance.rules.forms import FORMS
from conformance.rules.verdicts import Verdict
from tests.each import each

FOLDER = Path(__file__).parent.parent / "vectors" / "rules"
VECTORS = [
    {**vector, "id": f"{file.stem}: {vector['name']}"}
    for file in sorted(FOLDER.glob("*.yaml"))
    for vector in document.load(file).plain()["vectors"]
]


def rules_of(vector: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = vector["rules"] if "rules" in vector else {"rule": vector["rule"]}
    return found


def findings_of(outcome: Outcome) -> list[dict[str, Any]]:
    """Violations as a vector writes them: what is empty is left out."""
    rows = (
        {
            "event": violation.number,
            "slice": dict(violation.slice),
            "expected": list(violation.expected),
            "got": violation.got,
            "after": violation.after,
        }
        for violation in outcome.violations
    )
    return [{k: v for k, v in row.items() if k == "event" or v not in ({}, [], "")} for row in rows]


def stated_of(finding: dict[str, Any], words: dict[str, Any]) -> dict[str, Any]:
    """A vector leaves `got` out where a library words it."""
    return finding if "got" in words else {k: v for k, v in finding.items() if k != "got"}


@each(VECTORS)
def test_rule_is_judged_as_stated(vector: dict[str, Any], run_rules: Any) -> None:
    rules = rules_of(vector)
    outcomes = run_rules(rules, vector["stream"], vector, vector.get("events"))

    verdicts = {outcome.rule.id.split("/")[-1]: outcome.verdict.value for outcome in outcomes}
    stated = vector.get("verdict", "FAIL" if "findings" in vector else None)
    assert verdicts == vector.get("verdicts", {"rule": stated})
    if "findings" in vector:
        found = findings_of(outcomes[0])
        assert len(found) == len(vector["findings"])
        pairs = zip(found, vector["findings"], strict=True)
        assert [stated_of(*pair) for pair in pairs] == vector["findings"]


def test_names_of_vectors_are_unique() -> None:
    names = [vector["id"] for vector in VECTORS]
    assert len(set(names)) == len(names) >= 120


def test_every_form_but_compare_and_every_verdict_but_error_has_vectors() -> None:
    forms = {key for v in VECTORS for rule in rules_of(v).values() for key in rule}
    verdicts = {v.get("verdict", "FAIL") for v in VECTORS}
    assert set(FORMS) - forms == {"compare"}
    assert set(Verdict) - verdicts == {"ERROR"}
