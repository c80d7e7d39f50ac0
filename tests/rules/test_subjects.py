"""No rule passes on an exchange that has nothing of what it speaks of: asked naively.

The judge knows it by the states of its machines. Here all events of an exchange are kept, and it is
asked of them whether the subject of a rule was among them, as `docs/rule-language.md` states it.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, Final

import pytest

from conformance.core import shipped
from conformance.core.events import Ending, Event
from conformance.judging.view import ExchangeView
from conformance.recordings.check import check_paths
from conformance.rules.compiled import CompiledRule, NamedEvent, Outcomes
from conformance.rules.forms.base import Form
from conformance.rules.forms.each import Each, asker
from conformance.rules.forms.fold import Fold, Overlap
from conformance.rules.forms.grammar import Grammar
from conformance.rules.forms.never import Never
from conformance.rules.forms.response import Answer
from conformance.rules.forms.timing import Timing
from conformance.rules.forms.values import Values
from conformance.rules.judge import Judge
from conformance.rules.paths import MISSING, getter
from conformance.rules.patterns import fields_named
from conformance.rules.verdicts import Verdict


class Exchange:
    """All events of an exchange, and which of a rule's names they answer to."""

    def __init__(self, events: list[Event], rule: CompiledRule, context: Any) -> None:
        self.events, self.context = events, context
        self.named = {each.name: each for each in rule.names}

    def of_type(self, named: NamedEvent) -> list[Event]:
        layer = named.alias.layer
        return [e for e in self.events if e.layer == layer and named.is_type(e.type, self.context)]

    def came(self, *names: str) -> list[Event]:
        named = [self.named[name] for name in names]
        return [e for each in named for e in self.of_type(each) if each.holds(e, self.context)]

    def values(self, paths: Any) -> list[Any]:
        found = [getter(path)(e.data) for name, path in paths.items() for e in self.came(name)]
        return [value for value in found if value not in (MISSING, None, "")]

    def candidates(self, name: str) -> list[Event]:
        named = self.named[name]
        conditions = named.alias.conditions
        paths = [each for path, p in conditions for each in (path, *fields_named(p))]
        return [
            event
            for event in self.of_type(named)
            if paths and all(getter(path)(event.data) not in (MISSING, None) for path in paths)
        ]


def subject_came(rule: CompiledRule, events: list[Event], context: Any) -> bool:
    """Whether what the rule speaks of is among the events."""
    exchange = Exchange(events, rule, context)
    if not rule.subject:
        return bool(came_by_form(rule.rule.form, exchange))
    named = [name for subject in rule.subject for name in subject.names]
    return any(name.holds(event, context) for name in named for event in exchange.of_type(name))


def came_by_form(form: Form, exchange: Exchange) -> Any:
    """What is there of the subject that the form knows."""
    match form:
        case Never():
            looked_at = [*exchange.came(*form.events)]
            if not form.until or form.after:
                looked_at += [e for name in form.events for e in exchange.candidates(name)]
            return looked_at and (exchange.came(*form.after) or not form.after)
        case Answer():
            return exchange.came(*(form.when or form.opens or form.then))
        case Grammar():
            return exchange.came(*exchange.named)
        case Values():
            return len(exchange.values(form.of)) > (form.start is None)
        case Each():
            return any(asker(form.schema)(event.data) for event in exchange.came(*form.events))
        case Fold():
            has_other = not isinstance(form.lacks, Overlap) or exchange.values(form.lacks.paths)
            stated = form.stated and exchange.came(*form.stated.events)
            return has_other and (exchange.came(*form.over) or stated)
        case Timing():
            return exchange.came(*form.events)
    raise AssertionError(form)


class KeepingJudge(Judge):
    """Judges as ever, and keeps all events to look at them once more."""

    vacuous: Final[list[str]] = []
    passed: Final[set[str]] = set()

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.kept: list[Event] = []

    def read(self, event: Event) -> None:
        self.kept.append(event)
        super().read(event)

    def close(self, how: Ending) -> Outcomes:
        outcomes = super().close(how)
        for rule, outcome in zip(self.rules.rules, outcomes, strict=True):
            if outcome.verdict is Verdict.PASS:
                self.passed.add(rule.rule.id)
                if not subject_came(rule, self.kept, self.context):
                    self.vacuous.append(rule.rule.id)
        return outcomes


def check_subjects(monkeypatch: pytest.MonkeyPatch, *paths: Path, profile: str | None) -> set[str]:
    """Judges recordings; the rules that passed, after a look at why."""
    monkeypatch.setattr(ExchangeView, "judge_type", KeepingJudge)
    KeepingJudge.vacuous.clear()
    KeepingJudge.passed.clear()
    assert check_paths(paths, profile=profile).streams
    assert Counter(KeepingJudge.vacuous) == {}
    return set(KeepingJudge.passed)


@pytest.mark.slow
@pytest.mark.parametrize("profile", [None, "strict"])
def test_passing_rule_has_its_subject(monkeypatch: pytest.MonkeyPatch, profile: str | None) -> None:
    assert len(check_subjects(monkeypatch, shipped.cassettes(), profile=profile)) > 150
