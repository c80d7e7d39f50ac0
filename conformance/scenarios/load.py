"""Scenarios from YAML files, shipped or the user's own, and from a request in a JSON file.

Every error names file, line, column and the nearest known word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from conformance.core.errors import Place, SpecError, UsageError
from conformance.core.json_values import put_at
from conformance.core.regular_file import expect_regular
from conformance.core.shipped import specs
from conformance.dialects import CALLABLE_APPLICATIONS, ENDPOINTS, get, required
from conformance.dialects.requests import Question, Tool
from conformance.rules import document
from conformance.rules.node import Node, nearest
from conformance.scenarios.model import (
    BREAKS,
    CAPABILITIES,
    ENDS,
    SAYINGS,
    UPSTREAM,
    Carry,
    Scenario,
    Step,
    is_name,
    lay_over,
)

SCENARIO_KEYS: Final = frozenset(
    {"scenario", "title", "needs", "promises", "let", "exercises", "probes", "steps"}
)
TOOL_KEYS: Final = frozenset({"name", "says", "parameters"})
CARRY_KEYS: Final = frozenset({"role", "reasoning", "result", "ask"})
STEP_KEYS: Final = frozenset(
    {
        *("role", "like", "ends", "thinking", "headers", "after", "needs", "promises"),
        *("method", "path", "upstream", "calls", "beside", "excused", "says", *ENDPOINTS),
        *("ask", "question", "streams", "tools", "behind", "breaks", "stops"),
    }
)
_CARRIED: Final = frozenset({"turns", "response"})
"""What is known of the answer that a step continues: the history after it, and its id."""
BUILT_IN: Final = frozenset({"model", "limit", *_CARRIED})
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_HEADER: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_PATH: Final = re.compile(r"(/[A-Za-z0-9._~-]+)+")
_MOST_STEPS: Final = 64
_MOST_CALLS: Final = 100
_MOST_PARALLEL: Final = 16
# A user's request may be cut by its own limit or call its own tools: both are ends of an answer.
_OWN_ENDS: Final = ("complete", "length", "tools")
_MOST_BYTES: Final = 16 * 1024 * 1024


@cache
def shipped_scenarios() -> tuple[Scenario, ...]:
    return _load_below(specs() / "scenarios")


def load_scenarios(wanted: Sequence[str] = ()) -> tuple[Scenario, ...]:
    """All shipped scenarios; with `wanted`, only those: names, files and folders.

    Raises UsageError for what is none of them, SpecError for a broken file or a name met twice.
    """
    if not wanted:
        return shipped_scenarios()
    found: dict[str, Scenario] = {}
    for scenario in (each for name in wanted for each in _load_named(name)):
        if scenario.name in found and found[scenario.name].file != scenario.file:
            both = f"{found[scenario.name].file} and {scenario.file}"
            raise SpecError(f"scenario {scenario.name!r} is in {both}")
        found[scenario.name] = scenario
    return tuple(found.values())


def _load_named(name: str) -> tuple[Scenario, ...]:
    path = Path(name)
    if path.is_dir():
        return _load_below(path)
    if path.suffix in (".yaml", ".yml"):
        return (load_scenario(path),)
    chosen = tuple(each for each in shipped_scenarios() if each.name == name)
    if not chosen:
        names = [each.name for each in shipped_scenarios()]
        hint = nearest(name, names) or f"there are: {', '.join(names)}"
        raise UsageError(f"no scenario {name!r}, neither shipped nor a file", hint=hint)
    return chosen


def _load_below(folder: Path) -> tuple[Scenario, ...]:
    found = tuple(load_scenario(path) for path in sorted(folder.rglob("*.y*ml")))
    names = [each.name for each in found]
    twice = next((each for each in found if names.count(each.name) > 1), None)
    if twice is not None:
        raise SpecError(f"scenario {twice.name!r} appears twice below {folder}")
    return found


def own_request(path: Path, dialect: str) -> Scenario:
    """The JSON body in a file, to be sent as it is. Raises UsageError with the file's name."""
    place = Place(str(path))
    try:
        expect_regular(path)
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
        body: Any = msgspec.json.decode(data) if len(data) <= _MOST_BYTES else None
    except OSError as err:
        reason = (err.strerror or str(err)).lower()
        raise UsageError(f"cannot be read: {reason}", place=place) from err
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as err:
        raise UsageError(f"no JSON: {err}", place=place) from err
    if not isinstance(body, dict):
        raise UsageError("expected a JSON object, the body of one request", place=place)
    name = re.sub(r"[^a-z0-9-]+", "-", path.stem.lower()).strip("-") or "request"
    step = Step(role="asked", bodies={dialect: body}, place=place, ends=_OWN_ENDS)
    return Scenario(name=name, title=f"The request in {path}", steps=(step,), file=str(path))


def load_scenario(path: Path) -> Scenario:
    """The scenario in a file. Raises SpecError with the place of the first thing wrong."""
    return read_scenario(document.load(path))


def read_scenario(root: Node) -> Scenario:
    entries = root.mapping(SCENARIO_KEYS)
    values = entries["let"].mapping() if "let" in entries else {}
    for name, node in values.items():
        if name in BUILT_IN:
            raise node.error(f"the name {name!r} is reserved")
    plain = {name: node.plain() for name, node in values.items()}
    steps = root.required("steps").sequence()
    if not 0 < len(steps) <= _MOST_STEPS:
        raise root.required("steps").error(f"expected 1 to {_MOST_STEPS} steps, got {len(steps)}")
    known: dict[str, Step] = {}
    for node in steps:
        step = _read_step(node, known, plain)
        known[step.role] = step
    return Scenario(
        name=read_name(root.required("scenario")),
        title=root.required("title").string(),
        steps=tuple(known.values()),
        file=root.source.file,
        needs=_read_words(entries.get("needs"), CAPABILITIES),
        promises=_read_strings(entries.get("promises")),
        values=plain,
        exercises=_read_strings(entries.get("exercises")),
        probes=entries["probes"].one_of(CAPABILITIES) if "probes" in entries else "",
    )


def _read_step(node: Node, known: Mapping[str, Step], values: Mapping[str, Any]) -> Step:
    entries = node.mapping(STEP_KEYS)
    role = read_name(node.required("role"))
    if role in known:
        raise node.required("role").error(f"role {role!r} appears twice")
    below = _earlier_step(entries["like"], known) if "like" in entries else None
    carry = _read_carry(entries["after"], known) if "after" in entries else None
    if carry is not None and "ask" in entries:
        carry = replace(carry, ask=entries["ask"].string())
    thinking, method = entries.get("thinking"), entries.get("method")
    headers = _read_headers(entries.get("headers"))
    step = Step(
        role=role,
        bodies={**_read_bodies(entries, below, carry), **_application_bodies(entries, carry)},
        place=node.place,
        ends=_read_words(entries.get("ends"), ENDS) or ("complete",),
        thinking=None if thinking is None else thinking.boolean(),
        headers=headers if below is None else {**below.headers, **headers},
        carry=carry,
        needs=_read_words(entries.get("needs"), CAPABILITIES),
        promises=_read_strings(entries.get("promises")),
        method="GET" if method and method.one_of(("GET", "POST")) == "GET" else "POST",
        path=_read_path(entries.get("path")),
        upstream=_read_words(entries.get("upstream"), UPSTREAM),
        calls=_read_count(entries["calls"]) if "calls" in entries else None,
        beside=_read_beside(entries.get("beside"), known),
        excused=_read_strings(entries.get("excused")),
        says=entries["says"].one_of(SAYINGS) if "says" in entries else "",
        behind=_read_behind(entries.get("behind")),
        breaks=entries["breaks"].one_of(BREAKS) if "breaks" in entries else "",
        stops=entries["stops"].boolean() if "stops" in entries else False,
        asks=entries["ask"].string() if "ask" in entries else "",
    )
    _no_unknown_names(entries, {*values, *BUILT_IN} - (set() if carry else _CARRIED))
    if not step.bodies:
        raise node.error(f"expected a request for one of {', '.join(ENDPOINTS)}, got none")
    return step


def _read_bodies(
    entries: Mapping[str, Node], below: Step | None, carry: Carry | None
) -> dict[str, Any]:
    bodies = {**(below.bodies if below else {}), **_question_bodies(entries)}
    for dialect in ENDPOINTS:
        if dialect in entries:
            entries[dialect].mapping()
            bodies[dialect] = lay_over(bodies.get(dialect), entries[dialect].plain())
    if carry is None:
        return bodies
    forms = {name: required(get(name).request, name, "request bodies") for name in bodies}
    carried = (name for name, form in forms.items() if form.carries_on)
    return {name: _carrying(name, bodies[name], carry) for name in carried}


def _carrying(dialect: str, body: Any, carry: Carry) -> Any:
    """A body that continues an answer: with the history, where it does not name that itself."""
    if any(is_name(each) and each[1:] in _CARRIED for each in _texts_below(body)):
        return body
    form = required(get(dialect).request, dialect, "request bodies")
    more = {form.prompt: carry.ask} if form.prompt and carry.ask else {}
    more |= {form.previous: "$response"} if form.remembers else {}
    return put_at({**body, **more}, tuple(form.history.split(".")), "$turns")


def _texts_below(value: Any) -> Iterator[str]:
    """The texts of a template, however deep."""
    if isinstance(value, str):
        yield value
    within = value.values() if isinstance(value, Mapping) else value
    for each in within if isinstance(value, Mapping | list) else ():
        yield from _texts_below(each)


def _question_bodies(entries: Mapping[str, Node]) -> dict[str, Any]:
    """What every API is sent for one `question`: its own form of requests says how it is put."""
    if "question" not in entries:
        for name in ("streams", "tools"):
            if name in entries:
                raise entries[name].error(
                    f"`{name}` says how a `question` is asked, and there is none"
                )
        return {}
    streams = entries["streams"].boolean() if "streams" in entries else True
    thinking = entries["thinking"].boolean() if "thinking" in entries else None
    question = Question(
        entries["question"].string(),
        "$limit",
        streams=streams,
        thinks=thinking is not False,
        summarises=thinking is True,
        tools=_read_tools(entries.get("tools")),
    )
    forms = {name: form for name in ENDPOINTS if (form := get(name).request)}
    bodies = {name: (form, form.ask(question)) for name, form in forms.items()}
    return {
        name: {"model": "$model", **body, "stream": streams}
        for name, (form, body) in bodies.items()
        if form.tools(body) or not question.tools  # an API may have no place for tools
    }


def _read_tools(node: Node | None) -> tuple[Tool, ...]:
    fields = [each.mapping(TOOL_KEYS) for each in node.sequence()] if node else []
    nodes = node.sequence() if node else ()
    return tuple(
        Tool(
            each.required("name").string(),
            entries["says"].string() if "says" in entries else "",
            each.required("parameters").plain(),
        )
        for each, entries in zip(nodes, fields, strict=True)
    )


def _application_bodies(entries: Mapping[str, Node], carry: Carry | None) -> dict[str, Any]:
    """What a user interface sends when its user says `ask`, by protocol."""
    if "ask" not in entries:
        return {}
    question = Question(entries["ask"].string(), 0, streams=True, thinks=True, summarises=False)
    bodies: dict[str, Any] = {}
    for name in CALLABLE_APPLICATIONS:
        form = required(get(name).request, name, "request bodies")
        body = form.ask(question)
        if carry and form.previous:
            body = put_at(body, tuple(form.previous.split(".")), "$response")
        turns = tuple(form.history.split("."))
        bodies[name] = put_at(body, turns, "$turns") if carry else body
    return bodies


def _read_behind(node: Node | None) -> dict[str, tuple[str, ...]]:
    entries = node.mapping(frozenset(ENDPOINTS)) if node else {}
    return {name: _read_strings(each) for name, each in entries.items()}


def _earlier_step(node: Node, known: Mapping[str, Step]) -> Step:
    role = node.string()
    if role not in known:
        raise node.error(f"no earlier step has the role {role!r}", hint=nearest(role, known))
    return known[role]


def _read_beside(node: Node | None, known: Mapping[str, Step]) -> tuple[str, ...]:
    nodes = node.sequence() if node else ()
    if node and not 0 < len(nodes) <= _MOST_PARALLEL:
        raise node.error(f"expected 1 to {_MOST_PARALLEL} roles, got {len(nodes)}")
    steps = [(_earlier_step(each, known), each) for each in nodes]
    for step, each in steps:
        if step.carry is not None:
            raise each.error("a step that continues another one is not sent again")
    return tuple(step.role for step, _ in steps)


def _read_carry(node: Node, known: Mapping[str, Step]) -> Carry:
    if node.kind == "scalar":
        return Carry(_earlier_step(node, known).role)
    entries = node.mapping(CARRY_KEYS)
    kept = entries["reasoning"].one_of(("kept", "dropped")) if "reasoning" in entries else "kept"
    return Carry(
        role=_earlier_step(node.required("role"), known).role,
        reasoning="dropped" if kept == "dropped" else "kept",
        results=_read_results(entries.get("result")),
        ask=entries["ask"].string() if "ask" in entries else "",
    )


def _read_results(node: Node | None) -> tuple[str, ...]:
    return (node.string(),) if node and node.kind == "scalar" else _read_strings(node)


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


def _read_path(node: Node | None) -> str:
    if node is None:
        return ""
    if not _PATH.fullmatch(node.string()) or ".." in node.string():
        raise node.error(f"expected a path like /models, got {node.string()!r}")
    return node.string()


def read_name(node: Node) -> str:
    """Lower-case words joined by -. Raises SpecError."""
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
