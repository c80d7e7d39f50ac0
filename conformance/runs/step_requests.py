"""The requests of a scenario's steps: the model, the limit and the history filled in."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Mapping
from typing import Any, Final
from uuid import uuid4

from msgspec import Struct, field
from msgspec.structs import replace

from conformance.core.errors import UsageError
from conformance.core.events import Exchange, Request
from conformance.core.json_values import put_at, value_at
from conformance.dialects import ENDPOINTS, HISTORIES, PROMPTS, get, required
from conformance.dialects.base import Reading
from conformance.dialects.client_cases import EFFORT_LEVELS
from conformance.dialects.requests import OPT_IN, OPT_IN_FIELD, PLAIN, RequestStyle, is_yes
from conformance.judging.transcript import Transcript, read_transcript
from conformance.runs.turns import next_turns, response_id
from conformance.scenarios import Scenario, Step
from conformance.targets.recording import DirectRequest, RequestSequence

MARKER: Final = re.compile(r"(?=(K[A-Z2-7]{10}))")
"""Finds words of requests, wherever they are."""

_MARKER_LENGTH: Final = 10


class RequestSettings(Struct, frozen=True):
    """Settings of requests: the model, the limit of an answer in tokens, style and reading.

    `opt_in`: the wish to see thinking goes into a header, or into a field of the body. `marked`:
    each request is given a word of its own to say. `lacks` are capabilities of the target that
    requests do not ask for.
    """

    model: str
    limit: int
    style: RequestStyle = PLAIN
    reading: Reading = field(default_factory=Reading)
    opt_in: str = "header"
    marked: bool = False
    lacks: frozenset[str] = frozenset()


class NothingToCarryOnError(Exception):
    """The step that another one continues was not taken, or was not answered as it should be."""


def known_values(
    step: Step,
    earlier: Callable[[str], Transcript | None],
    dialect: str,
    settings: RequestSettings,
) -> dict[str, Any]:
    """The values that a step's request may name.

    `earlier` gives an answer by its role, with its wire events. Raises NothingToCarryOnError.
    """
    known: dict[str, Any] = {"model": settings.model, "limit": settings.limit}
    if step.carry is None:
        return known
    before = earlier(step.carry.role)
    request = before.exchange.request if before else None
    sent = request.json if request else None
    if before is None or not isinstance(sent, Mapping):
        raise NothingToCarryOnError(f"needs the answer of {step.carry.role}, which was not sent")
    history = next_turns(dialect, before, sent, step.carry)
    if history is None:
        wanted = "called no tool" if step.carry.results else "gave no answer"
        raise NothingToCarryOnError(f"continues {step.carry.role}, which {wanted}")
    response = response_id(dialect, before)
    return {**known, "turns": history, "response": response}


def step_request(
    step: Step,
    dialect: str,
    values: Mapping[str, Any],
    settings: RequestSettings,
    before: Exchange | None = None,
) -> Request:
    """The request of a step, below the target's base URL; `before` is what it continues."""
    body = step.body(dialect, values)
    endpoint = ENDPOINTS.get(dialect)
    if endpoint is None:  # an application, at its own address
        own = (*settings.style.headers, *step.headers.items())
        for at, made in _own_ids(dialect, before).items():
            key = tuple(at.split("."))
            body = put_at(body, key, made) if value_at(body, *key) is None else body
        shaped = settings.style.apply(_with_model(body, dialect, settings.model))
        return Request(method=step.method, path=step.path, headers=own, json=shaped)
    headers = {**dict(endpoint.headers), **step.headers}
    if settings.opt_in == "field" and OPT_IN in headers:
        body = put_at(body, OPT_IN_FIELD, is_yes(headers.pop(OPT_IN)))
    shaped = _without_lacking(settings.style.apply(body), dialect, settings.lacks)
    path, sent_body = endpoint.address(shaped, settings.model)
    return Request(
        method=step.method,
        path=step.path or path,
        headers=tuple(headers.items()),
        json=sent_body if step.method == "POST" else None,
    )


def _without_lacking(body: Any, dialect: str, lacks: frozenset[str]) -> Any:
    """The body without a limit or an effort, for servers that refuse any."""
    limits = required(get(dialect).request, dialect, "request bodies").limits
    paths = (limits if "limit" in lacks else ()) + (EFFORT_LEVELS if "effort" in lacks else ())
    for path in (tuple(each.split(".")) for each in paths):
        holder = value_at(body, *path[:-1])
        if isinstance(holder, Mapping) and path[-1] in holder:
            left = {key: value for key, value in holder.items() if key != path[-1]}
            body = put_at(body, path[:-1], left)
    return body


def _with_model(body: Any, dialect: str, model: str) -> Any:
    """The body with the model that the user named, where such interfaces state one."""
    form = required(get(dialect).request, dialect, "request bodies")
    return put_at(body, tuple(form.model.split(".")), model) if form.model and model else body


def _own_ids(dialect: str, before: Exchange | None) -> dict[str, str]:
    """The ids that a client makes: the conversation's stays over its turns, and is no other's."""
    form = required(get(dialect).request, dialect, "request bodies")
    sent = before.request.json if before and before.request else None
    kept = value_at(sent, *form.conversation.split("."))
    made = {form.conversation: kept or f"{uuid4()}", form.own_id: f"{uuid4()}"}
    return {key: value for key, value in made.items() if key}


def scenario_requests(
    scenario: Scenario,
    dialect: str,
    settings: RequestSettings,
    headers: Mapping[str, str] | None = None,
    *,
    tell: Callable[[str], None] = lambda _: None,
) -> RequestSequence:
    """The requests of a scenario in one API to record, with `headers` of the user's own.

    Each is built on what came before it. `tell` hears of a step that cannot be taken. Raises
    UsageError for a scenario that is not written for the API, or for gateways only.
    """
    if scenario.is_for_gateways:
        raise UsageError(f"scenario {scenario.name} is for gateways", hint="see run --gateway")
    if not scenario.steps_for(dialect):
        raise UsageError(f"scenario {scenario.name} has no request for {dialect}")
    return _requests_in_turn(scenario, dialect, settings, headers or {}, tell)


def _requests_in_turn(
    scenario: Scenario,
    dialect: str,
    settings: RequestSettings,
    headers: Mapping[str, str],
    tell: Callable[[str], None],
) -> RequestSequence:
    taken: dict[str, Transcript] = {}
    steps = scenario.steps_for(dialect)
    carried = {each.carry.role for each in steps if each.carry}
    for step in steps:
        try:
            known = known_values(step, taken.get, dialect, settings)
        except NothingToCarryOnError as err:
            tell(f"{scenario.name}/{step.role} was left out: {err}")
            continue
        before = taken.get(step.carry.role) if step.carry else None
        carried_on = before.exchange if before else None
        values = {**scenario.values, **known}
        request = step_request(step, dialect, values, settings, carried_on)
        answered = yield DirectRequest(
            path=request.path,
            body=request.json,
            method=request.method,
            headers=tuple({**dict(request.headers), **headers}.items()),
            after=before.exchange.number if before else None,
            scenario=scenario.name,
            role=step.role,
        )
        if step.role in carried:
            requested = replace(answered, request=request)
            taken[step.role] = read_transcript(
                requested, get(dialect), settings.reading, keep="wire"
            )


def marker_word(request: str) -> str:
    """The word of one of several requests, by its name.

    The target is to begin with it: then text of another answer is known by its word,
    whatever else it holds.
    """
    digest = hashlib.sha256(request.encode()).digest()
    return f"K{base64.b32encode(digest).decode()[:_MARKER_LENGTH]}"


def ask_for_marker(body: Any, word: str) -> Any:
    """The request body with the wish for the word; as it is where no step asks in plain text."""
    if not isinstance(body, Mapping):
        return body
    for name in (*PROMPTS, *HISTORIES):
        history = body.get(name)
        if isinstance(history, str):
            return {**body, name: f"{history}{_marker_wish(word)}"}
        if isinstance(history, list) and history:
            turn = _turn_with_wish(history[-1], _marker_wish(word))
            return {**body, name: [*history[:-1], turn]}
    return body


def _turn_with_wish(turn: Any, wish: str) -> Any:
    """A turn of the user whose text, or the last part of it, ends with the wish."""
    if not isinstance(turn, Mapping) or turn.get("role", "user") != "user":
        return turn
    name = "parts" if "parts" in turn else "content"
    content = turn.get(name)
    if isinstance(content, str):
        return {**turn, name: f"{content}{wish}"}
    if not isinstance(content, list) or not content:
        return turn
    last = content[-1]
    if not isinstance(last, Mapping) or not isinstance(last.get("text"), str):
        return turn
    return {**turn, name: [*content[:-1], {**last, "text": f"{last['text']}{wish}"}]}


def _marker_wish(word: str) -> str:
    return f"\nBegin your answer with the word {word}."
