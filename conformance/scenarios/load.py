"""Scenarios from YAML files: every error names file, line, column and the nearest known word."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from conformance.dialects import ENDPOINTS
from conformance.rules import document
from conformance.rules.node import Node, nearest
from conformance.scenarios.bodies import is_name, lay_over
from conformance.scenarios.model import CAPABILITIES, ENDS, UPSTREAM, Carry, Scenario, Step

SCENARIO_KEYS: Final = frozenset(
    {"scenario", "title", "needs", "promises", "let", "exercises", "probes", "steps"}
)
CARRY_KEYS: Final = frozenset({"role", "reasoning", "result", "ask"})
STEP_KEYS: Final = frozenset(
    {
        *("role", "like", "ends", "thinking", "headers", "after", "needs", "promises"),
        *("method", "path", "upstream", "calls", "beside", "excused", *ENDPOINTS),
    }
)
_CARRIED: Final = frozenset({"turns", "response"})
"""What is known of the answer that a step carries on: the history after it, and its id."""
BUILT_IN: Final = frozenset({"model", "limit", *_CARRIED})
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_HEADER: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_PATH: Final = re.compile(r"(/[A-Za-z0-9._~-]+)+")
_MOST_STEPS: Final = 64
_MOST_CALLS: Final = 100
_MOST_BESIDE: Final = 16


def load_scenario(path: Path) -> Scenario:
    """The scenario in a file. Raises SpecError with the place of the first thing wrong."""
    return read_scenario(document.load(path))


def read_scenario(root: Node) -> Scenario:
    """The scenario in a document."""
    entries = root.mapping(SCENARIO_KEYS)
    values = entries["let"].mapping() if "let" in entries else {}
    plain = {name: _read_value(name, node, values) for name, node in values.items()}
    steps = root.required("steps").sequence()
    if not 0 < len(steps) <= _MOST_STEPS:
        raise root.required("steps").error(f"expected 1 to {_MOST_STEPS} steps, got {len(steps)}")
    known: dict[str, Step] = {}
    for node in steps:
        step = _read_step(node, known, plain)
        known[step.role] = step
    return Scenario(
        name=_read_name(root.required("scenario")),
        title=root.required("title").string(),
        steps=tuple(known.values()),
        file=root.source.file,
        needs=_read_words(entries.get("needs"), CAPABILITIES),
        promises=_read_strings(entries.get("promises")),
        values=plain,
        exercises=_read_strings(entries.get("exercises")),
        probes=entries["probes"].one_of(CAPABILITIES) if "probes" in entries else "",
    )


def _read_value(name: str, node: Node, all_: Mapping[str, Node]) -> Any:
    if name in BUILT_IN:
        raise all_[name].error(f"the name {name!r} has a meaning of its own")
    return node.plain()


def _read_step(node: Node, known: Mapping[str, Step], values: Mapping[str, Any]) -> Step:
    entries = node.mapping(STEP_KEYS)
    role = _read_name(node.required("role"))
    if role in known:
        raise node.required("role").error(f"role {role!r} is there twice")
    below = _earlier_step(entries["like"], known) if "like" in entries else None
    carry = _read_carry(entries["after"], known) if "after" in entries else None
    thinking = entries.get("thinking")
    headers = _read_headers(entries.get("headers"))
    step = Step(
        role=role,
        bodies=_read_bodies(entries, below),
        place=node.place,
        ends=_read_words(entries.get("ends"), ENDS) or ("complete",),
        thinking=None if thinking is None else thinking.boolean(),
        headers=headers if below is None else {**below.headers, **headers},
        carry=carry,
        needs=_read_words(entries.get("needs"), CAPABILITIES),
        promises=_read_strings(entries.get("promises")),
        method="GET" if _read_method(entries.get("method")) == "GET" else "POST",
        path=_read_path(entries.get("path")),
        upstream=_read_words(entries.get("upstream"), UPSTREAM),
        calls=_read_count(entries["calls"]) if "calls" in entries else None,
        beside=_read_beside(entries.get("beside"), known),
        excused=_read_strings(entries.get("excused")),
    )
    _no_unknown_names(entries, {*values, *BUILT_IN} - (set() if carry else _CARRIED))
    if not step.bodies:
        raise node.error(f"expected a request for one of {', '.join(ENDPOINTS)}, got none")
    return step


def _read_bodies(entries: Mapping[str, Node], below: Step | None) -> dict[str, Any]:
    bodies = dict(below.bodies) if below else {}
    for dialect in ENDPOINTS:
        if dialect in entries:
            entries[dialect].mapping()
            bodies[dialect] = lay_over(bodies.get(dialect), entries[dialect].plain())
    return bodies


def _earlier_step(node: Node, known: Mapping[str, Step]) -> Step:
    role = node.string()
    if role not in known:
        raise node.error(f"no earlier step has the role {role!r}", hint=nearest(role, known))
    return known[role]


def _read_beside(node: Node | None, known: Mapping[str, Step]) -> tuple[str, ...]:
    nodes = node.sequence() if node else ()
    if node and not 0 < len(nodes) <= _MOST_BESIDE:
        raise node.error(f"expected 1 to {_MOST_BESIDE} roles, got {len(nodes)}")
    steps = [(_earlier_step(each, known), each) for each in nodes]
    for step, each in steps:
        if step.carry is not None:
            raise each.error("a step that carries on another one is not sent again")
    return tuple(step.role for step, _ in steps)


def _read_carry(node: Node, known: Mapping[str, Step]) -> Carry:
    if node.kind == "scalar":
        return Carry(_earlier_step(node, known).role)
    entries = node.mapping(CARRY_KEYS)
    kept = entries["reasoning"].one_of(("kept", "dropped")) if "reasoning" in entries else "kept"
    return Carry(
        role=_earlier_step(node.required("role"), known).role,
        reasoning="dropped" if kept == "dropped" else "kept",
        result=entries["result"].string() if "result" in entries else "",
        ask=entries["ask"].string() if "ask" in entries else "",
    )


def _no_unknown_names(entries: Mapping[str, Node], known: set[str]) -> None:
    for dialect in ENDPOINTS:
        for each in _scalars_below(entries[dialect]) if dialect in entries else ():
            if is_name(each.value) and each.value[1:] not in known:
                hint = nearest(each.value[1:], known) or f"known: {', '.join(sorted(known))}"
                raise each.error(f"nothing is called {each.value!r}", hint=hint)


def _scalars_below(node: Node) -> Iterator[Node]:
    if node.kind == "scalar":
        yield node
    children = node.sequence() if node.kind == "sequence" else ()
    for child in node.mapping().values() if node.kind == "mapping" else children:
        yield from _scalars_below(child)


def _read_headers(node: Node | None) -> dict[str, str]:
    entries = node.mapping() if node else {}
    for name, value in entries.items():
        if not _HEADER.fullmatch(name):
            raise value.error(f"{name!r} is no name of a header")
        if not (value.string().isascii() and value.string().isprintable()):
            raise value.error("expected printable ASCII in a header")
    return {name.lower(): value.string() for name, value in entries.items()}


def _read_count(node: Node) -> int:
    if not 0 <= node.integer() <= _MOST_CALLS:
        raise node.error(f"expected 0 to {_MOST_CALLS} calls, got {node.integer()}")
    return node.integer()


def _read_method(node: Node | None) -> str:
    return node.one_of(("GET", "POST")) if node else "POST"


def _read_path(node: Node | None) -> str:
    if node is None:
        return ""
    if not _PATH.fullmatch(node.string()) or ".." in node.string():
        raise node.error(f"expected a path like /models, got {node.string()!r}")
    return node.string()


def _read_name(node: Node) -> str:
    text = node.string()
    if not _NAME.fullmatch(text):
        raise node.error(f"expected lower-case words joined by -, got {text!r}")
    return text


def _read_words(node: Node | None, known: tuple[str, ...]) -> tuple[str, ...]:
    if node is None:
        return ()
    nodes = node.sequence() if node.kind == "sequence" else (node,)
    return tuple(each.one_of(known) for each in nodes)


def _read_strings(node: Node | None) -> tuple[str, ...]:
    return tuple(each.string() for each in node.sequence()) if node else ()
