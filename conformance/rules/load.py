"""Suites from YAML files: every error names file, line, column and the nearest known word."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, get_args

from conformance.core.events import Vocabulary
from conformance.rules import document
from conformance.rules.alias import Alias
from conformance.rules.forms import FORMS, read_form
from conformance.rules.forms.base import Form
from conformance.rules.forms.compare import VIEWS, Compare
from conformance.rules.forms.reading import FormReader, chosen
from conformance.rules.model import Applies, Rule, Scope, Suite
from conformance.rules.names import Names, pattern_at
from conformance.rules.node import Node
from conformance.rules.stream_example import EXPECTED, read_examples
from conformance.rules.verdicts import Level

MOST_EXAMPLES: Final = 1000
"""Examples in one file."""
SUITE_KEYS: Final = frozenset({"suite", "title", "dialect", "events", "rules"})
RULE_KEYS: Final = frozenset(
    {
        *("id", "level", "says", "source", "since", "applies", "slice", "scope", "subject"),
        *("hint", "fix", "dialect", "after", "until", "restates", *EXPECTED, *FORMS),
    }
)
SOURCE_KEYS: Final = frozenset({"spec", "quote", "observed", "breaks", "advice"})
SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
_ID: Final = re.compile(r"[a-z0-9][a-z0-9-]*")
_SUITE_ID: Final = re.compile(r"[a-z0-9][a-z0-9-]*(/[a-z0-9][a-z0-9-]*)*")
_VERSION: Final = re.compile(r"\d+\.\d+\.\d+")

Vocabularies = Callable[[str], Vocabulary]


def load_suite(path: Path, vocabularies: Vocabularies) -> Suite:
    """The suite in a file. `vocabularies` gives a dialect's vocabulary by name.

    Raises `SpecError` with the place of the first thing that is wrong.
    """
    return read_suite(document.load(path), vocabularies)


def read_suite(root: Node, vocabularies: Vocabularies) -> Suite:
    entries = root.mapping(SUITE_KEYS)
    suite = _matching_text(root.required("suite"), _SUITE_ID, "words joined by '-' and '/'")
    dialects = _read_dialects(entries.get("dialect"))
    names = Names(joined_vocabulary(dialects, vocabularies))
    events = entries.get("events")
    if events is not None:
        for name, node in events.mapping().items():
            names.declare(name, node)
    rules = tuple(
        _read_rule(node, suite, dialects, names) for node in root.required("rules").sequence()
    )
    _no_twins(root.required("rules"), rules)
    if sum(len(rule.examples) for rule in rules) > MOST_EXAMPLES:
        raise root.required("rules").error(f"more than {MOST_EXAMPLES} examples in one file")
    title = entries["title"].string() if "title" in entries else suite
    return Suite(suite, title, dialects, rules, root.source.file)


def joined_vocabulary(dialects: Sequence[str], vocabularies: Vocabularies) -> Vocabulary | None:
    """What a suite of these dialects may name; None where it is of every dialect."""
    if not dialects:
        return None
    wires = [vocabularies(dialect).wire for dialect in dialects]
    return Vocabulary(", ".join(dialects), frozenset().union(*wires))


def _read_dialects(node: Node | None) -> tuple[str, ...]:
    """The dialects of a suite or of a rule: one, or a list."""
    if node is None:
        return ()
    if isinstance(node.value, str):
        return (node.string(),)
    return tuple(each.string() for each in node.sequence())


def _narrowed_dialects(node: Node | None, dialects: tuple[str, ...]) -> tuple[str, ...]:
    """The dialects of a rule: those of its suite, or those among them that it names."""
    named = _read_dialects(node)
    if node is not None and not set(named) <= set(dialects):
        raise node.error("a rule names only dialects of its suite")
    return named or dialects


def _no_twins(nodes: Node, rules: tuple[Rule, ...]) -> None:
    seen: set[str] = set()
    for node, rule in zip(nodes.sequence(), rules, strict=True):
        if rule.id in seen:
            raise node.required("id").error(f"rule {rule.id!r} appears twice")
        seen.add(rule.id)


def _read_rule(node: Node, suite: str, dialects: tuple[str, ...], names: Names) -> Rule:
    entries = node.mapping(RULE_KEYS)
    for bound in ("after", "until", "restates"):
        if bound in entries and "never" not in entries:
            raise node.key(bound).error(f"{bound!r} belongs to the form never")
    reader = FormReader(names)
    form = read_form(reader, node)
    return Rule(
        id=f"{suite}/{_matching_text(node.required('id'), _ID, 'lower-case words joined by -')}",
        level=chosen(node.required("level"), tuple(Level)),
        says=node.required("says").string(),
        source=_read_source(entries["source"]) if "source" in entries else (),
        since=_matching_text(node.required("since"), _VERSION, "a version like 0.1.0"),
        form=form,
        aliases=reader.used,
        place=node.place,
        slice=_read_slice(entries.get("slice")),
        subject=_read_subject(names, form, entries.get("subject")),
        scope=_read_scope(entries.get("scope")),
        applies=_read_applies(entries.get("applies")),
        dialects=_narrowed_dialects(entries.get("dialect"), dialects),
        hint=_read_text(entries, "hint"),
        fix=_read_text(entries, "fix"),
        examples=read_examples(entries),
    )


def _read_scope(node: Node | None) -> Scope:
    return "answer" if node is None else chosen(node, SCOPES)


def _read_subject(names: Names, form: Form, node: Node | None) -> Mapping[str, Alias]:
    if node is None:
        return {}
    if isinstance(form, Compare):
        raise node.error("a comparison is judged where both sides have something")
    reader = FormReader(names)
    reader.named_events(node)
    return reader.used


def _read_text(entries: Mapping[str, Node], key: str) -> str:
    return entries[key].string() if key in entries else ""


def _matching_text(node: Node, pattern: re.Pattern[str], what: str) -> str:
    text = node.string()
    if not pattern.fullmatch(text):
        raise node.error(f"expected {what}, got {text!r}")
    return text


def _read_slice(node: Node | None) -> tuple[str, ...]:
    return tuple(each.string() for each in node.sequence()) if node else ()


def _read_source(node: Node) -> tuple[Mapping[str, str], ...]:
    nodes = node.sequence() if node.kind == "sequence" else (node,)
    found: list[Mapping[str, str]] = []
    for each in nodes:
        entries = {key: value.string() for key, value in each.mapping(SOURCE_KEYS).items()}
        if not entries:
            raise each.error(f"expected one of {', '.join(sorted(SOURCE_KEYS))}, got nothing")
        if "quote" in entries and "spec" not in entries:
            raise each.key("quote").error("a quote names its specification: add spec")
        found.append(entries)
    if not found:
        raise node.error("a rule has at least one source")
    return tuple(found)


def _read_applies(node: Node | None) -> Applies:
    if node is None:
        return Applies()
    known = {"request", "response", "stated", "profile", "user_choices", "view"}
    entries = node.mapping(known)
    return Applies(
        request=_read_conditions(entries.get("request")),
        response=_read_conditions(entries.get("response")),
        stated=_read_conditions(entries.get("stated")),
        profile=_read_conditions(entries.get("profile")),
        user_choices=_read_conditions(entries.get("user_choices")),
        view=chosen(entries["view"], VIEWS) if "view" in entries else "wire",
    )


def _read_conditions(node: Node | None) -> tuple[tuple[str, Any], ...]:
    if node is None:
        return ()
    return tuple((path, pattern_at(value)) for path, value in node.mapping().items())
