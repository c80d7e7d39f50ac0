"""Grammars that have no words, refuse nothing, or name what cannot come; and what they cost."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.rules.forms.grammar import Grammar
from conformance.rules.language import counted, language
from conformance.rules.lint_events import is_delta
from conformance.rules.lint_texts import Fault
from conformance.rules.model import Rule
from conformance.rules.node import Node


def grammar_faults(rule: Rule, node: Node) -> Iterator[Fault]:
    """Faults of a rule whose form is a grammar."""
    form = rule.form
    if not isinstance(form, Grammar):
        return
    text = node.required("grammar")
    if not text.quoted:
        yield "error", text.error("a grammar needs quotes", hint="* and | mean things in YAML")
    yield from _meaning(rule, form, text)
    costly = [name for name in counted(form.root) if is_delta(rule.aliases[name])]
    if costly and rule.view == "wire":
        message = f"a counted repetition of {costly[0]!r} costs every delta"
        yield "warning", text.error(message, hint="use * or + where the number does not matter")


def _meaning(rule: Rule, form: Grammar, text: Node) -> Iterator[Fault]:
    found = language(form, rule.aliases)
    if not found.is_known:
        yield "warning", text.error("the grammar is too large to be understood")
    elif found.is_empty:
        yield "error", text.error("the grammar has no words: none of its events may ever come")
    else:
        if found.accepts_all:
            yield "error", text.error("the grammar accepts everything: the rule cannot fail")
        for name in found.useless:
            yield "error", text.error(f"no word of the grammar contains {name!r}")
