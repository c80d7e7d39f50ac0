"""Monitors: one per rule form, online, linear, bounded. `plan` compiles a rule into a maker."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any

from conformance.rules.grammar import Automaton
from conformance.rules.model import (
    Answer,
    Compare,
    Each,
    Fold,
    Grammar,
    Never,
    Overlap,
    Rule,
    Timing,
    Values,
)
from conformance.rules.monitors.base import Context, Monitor
from conformance.rules.monitors.fields import EachMonitor, TimingMonitor, ValuesMonitor
from conformance.rules.monitors.folds import CollectMonitor
from conformance.rules.monitors.gather import GatherMonitor
from conformance.rules.monitors.growth import GrowsMonitor
from conformance.rules.monitors.leaks import LacksMonitor
from conformance.rules.monitors.order import AnswerMonitor, GrammarMonitor, NeverMonitor
from conformance.rules.patterns import PatternError, is_number, knob, regex, schema_validator
from conformance.rules.repetition import is_blind

Maker = Callable[[Context], Monitor[Any]]


def maker(rule: Rule, knobs: Mapping[str, Any]) -> Maker:
    """A function that starts a monitor of `rule`.

    What can be shared between exchanges (automata, validators) is made here, once.
    """
    form = rule.form
    if isinstance(form, Grammar | Never | Answer):
        return _ordered(rule, form)
    if isinstance(form, Values):
        start = constant(form.start, knobs)
        if start is not None and not is_number(start):
            raise PatternError(f"contiguous values start with a number, not {start!r}")
        return lambda context: ValuesMonitor(rule, context, form, start)
    if isinstance(form, Each):
        validator = schema_validator(form.schema, knobs)
        blind = lru_cache(maxsize=256)(partial(is_blind, form.schema, ""))
        return lambda context: EachMonitor(rule, context, validator, blind)
    if isinstance(form, Timing):
        return lambda context: TimingMonitor(rule, context, form)
    if isinstance(form, Compare):
        return lambda context: GatherMonitor(rule, context, form)
    return _fold(rule, form, knobs)


def _ordered(rule: Rule, form: Grammar | Never | Answer) -> Maker:
    if isinstance(form, Grammar):
        automaton = Automaton(form.root)
        return lambda context: GrammarMonitor(rule, context, automaton)
    if isinstance(form, Never):
        return lambda context: NeverMonitor(rule, context, form)
    return lambda context: AnswerMonitor(rule, context, form)


def _fold(rule: Rule, form: Fold, knobs: Mapping[str, Any]) -> Maker:
    if form.grows is not None:
        return lambda context: GrowsMonitor(rule, context, form)
    if form.lacks is not None:
        markers = () if isinstance(form.lacks, Overlap) else texts(form.lacks, knobs)
        return lambda context: LacksMonitor(rule, context, form, markers)
    masks = texts(form.minus, knobs)
    if form.matches is not None:
        regex(form.matches)
    return lambda context: CollectMonitor(rule, context, form, masks)


def constant(value: Any, knobs: Mapping[str, Any]) -> Any:
    """A constant, or the profile's value where `$knob` stands."""
    return knob(value, knobs) if isinstance(value, str) and value.startswith("$") else value


def texts(value: Any, knobs: Mapping[str, Any]) -> tuple[str, ...]:
    """A list of texts, given as such or as `$knob`; lists inside the list are flattened."""
    value = constant(value, knobs)
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, list | tuple):
        raise PatternError(f"expected texts, got {value!r}")
    return tuple(text for each in value for text in texts(each, knobs))
