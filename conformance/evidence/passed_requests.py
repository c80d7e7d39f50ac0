"""Compares a gateway's incoming request with its upstream one: by meaning, between any two APIs.

Rule 1: the first upstream call is the one for the answer, as in `hops`. A request whose JSON is
        unknown is not judged.
Rule 2: effort counts in any form, also as a model that is named for it. The request may omit what
        the upstream API does by default. A level at the same path may be lower, for not every
        model has all of them, but no higher.
Rule 3: a gateway may offer functions of its own, and respell names that the upstream API does not
        accept; where calls are off (`tool_choice`) it may leave tools out.
Rule 4: a limit may be lowered, raised to the minimum of an API, or raised by the budget of
        thinking next to it.
Rule 5: of a history that the server keeps only the new turns are sent: there is nothing to compare.
Rule 6: what the model said may stand next to more upstream (thinking that an API has no place for);
        none of it may be missing, or come twice, and no call or result of a tool may be missing.
Rule 7: a temperature counts where the client turned thinking off, for models that think may take
        none; it may be lowered to the scale of an API. Stop sequences count where the API has a
        place for them; templates of models add others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from msgspec.structs import replace

from conformance.core.events import Exchange
from conformance.core.json_values import value_at
from conformance.dialects.repeated_answers import RepeatedAnswers, is_within, repeated_answers
from conformance.dialects.requested_effort import (
    is_named_for_effort,
    is_raised,
    passed_effort,
    requested_effort,
    thinking_budget,
)
from conformance.dialects.user_turns import user_turns
from conformance.dialects.wishes import ANY_CALL
from conformance.evidence.comparable_requests import (
    NONE,
    PLAIN_NAME,
    ComparableRequest,
    Found,
    Lost,
    Part,
    comparable_request,
    counted,
    is_kept,
    shortened,
    wish_of,
)
from conformance.evidence.passed_prompts import answer_format, instructions, sealed, tool_texts
from conformance.judging.findings import clip_text
from conformance.judging.ledger import Ledger
from conformance.judging.passed_request_rules import (
    ASKED_ANSWERS,
    ASKED_CHOICE,
    ASKED_EFFORT,
    ASKED_FORMAT,
    ASKED_HISTORY,
    ASKED_LIMIT,
    ASKED_SEALED,
    ASKED_SETTINGS,
    ASKED_SYSTEM_PROMPT,
    ASKED_TOOL_TEXTS,
    ASKED_TOOLS,
)
from conformance.judging.result import ContextLine, Finding, ReferencedEvent
from conformance.judging.transcript import Transcript, finding_at_request
from conformance.rules.forms.differences import first_difference, view
from conformance.rules.model import Rule
from conformance.rules.verdicts import Verdict

_NAME: Final = "hops"
_REQUEST: Final = "http.request"
_OF_TALK: Final = (ASKED_ANSWERS, ASKED_HISTORY, ASKED_SYSTEM_PROMPT)
_OF_TOOLS: Final = (ASKED_TOOLS, ASKED_TOOL_TEXTS)
_TELLING: Final = 12  # characters without white space: no chance repetition
_LEAST_LIMIT: Final = 16  # tokens; Responses of OpenAI takes no smaller one
_TEMPERATURES: Final = (
    "temperature",
    "options.temperature",
    "generationConfig.temperature",
    "generation_config.temperature",
    "inferenceConfig.temperature",
)


def compare_requests(
    ledger: Ledger, exchange: Exchange, answer: Transcript, calls: Sequence[Exchange], file: str
) -> None:
    """Judges a gateway's upstream requests, those of its `calls`, by the one it got.

    `file` is the recording that has them.
    """
    given = comparable_request(exchange)
    passed = comparable_request(calls[0]) if calls else None
    if given is None or passed is None:
        return
    lost: set[str] = set()
    for rule, found in compared_requests(given, passed):
        if rule is ASKED_SEALED and answer.opaque:
            continue  # a gateway may seal with a key of its own
        if rule is ASKED_LIMIT and ASKED_EFFORT.id in lost and not thinking_budget(passed.body):
            continue  # the limit has room for the budget that was lost
        if isinstance(found, Lost):
            finding = _request_finding(rule, found, answer, (given, passed), file)
            ledger.add(rule.id, Verdict.FAIL, findings=(finding,), by=_NAME)
            lost.add(rule.id)
        elif found:
            ledger.add(rule.id, Verdict.PASS, by=_NAME)


def _request_finding(
    rule: Rule,
    found: Lost,
    answer: Transcript,
    sides: tuple[ComparableRequest, ComparableRequest],
    file: str,
) -> Finding:
    """A finding at the request; of both requests it shows the part that the rule compares."""
    part: Part = "tools" if rule in _OF_TOOLS else "talk" if rule in _OF_TALK else "settings"
    given, passed = (clip_text(side.shown(part)) for side in sides)
    at = finding_at_request(rule, answer, f"expected {found.expected} upstream, got {found.got}")
    number = sides[1].exchange.number
    upstream = ReferencedEvent(file, number, 0, None, None, _REQUEST, passed)
    return replace(at, context=(ContextLine(0, _REQUEST, given),), upstream=upstream)


def compared_requests(
    given: ComparableRequest, passed: ComparableRequest
) -> Iterator[tuple[Rule, Found]]:
    """What each rule finds between the two requests."""
    for rule, compare in _COMPARED:
        yield rule, compare(given, passed)


def _effort(given: ComparableRequest, passed: ComparableRequest) -> Found:
    wanted, got = requested_effort(given.body), passed_effort(passed.body)
    if wanted is None:
        return False
    expected = f"{wanted.path}: {view(wanted.value)}"
    if got is not None:
        is_turned = {wanted.stance, got.stance} == {"on", "off"}
        is_other = is_turned or is_raised(wanted, got)
        return Lost(expected, f"{got.path}: {view(got.value)}") if is_other else True
    if wanted.stance != "on" and not passed.form.thinks_unasked:
        return True
    names = (side.body.get("model") for side in (passed, given))
    return is_named_for_effort(*names) or Lost(expected, NONE)


def _tools(given: ComparableRequest, passed: ComparableRequest) -> Found:
    offered = given.tools
    script = given.dialect.script
    if offered is None or (script and script.wishes.read(given.body).has_no_calls):
        return False
    through = passed.tools
    names = [name for name in offered.names if PLAIN_NAME.fullmatch(name)]
    for name in names:
        if through is None or name not in through.names:
            return Lost(f"the function {name}", NONE)
        wanted, got = offered.required(name), through.required(name)
        if wanted != got and not (wanted < got and through.demands_all(name)):
            return Lost(_signature(name, wanted), _signature(name, got))
    return bool(names)


def _signature(name: str, required: frozenset[str]) -> str:
    return shortened(f"{name}({', '.join(sorted(required))})")


def _limit(given: ComparableRequest, passed: ComparableRequest) -> Found:
    wanted, got = given.form.least_limit(given.body), passed.form.least_limit(passed.body)
    if wanted is None or not passed.form.limits:
        return False
    if got is None:
        return Lost(f"a limit of {wanted} tokens", "none")
    most = max(wanted, _LEAST_LIMIT) + thinking_budget(passed.body)
    return got <= most or Lost(f"at most {wanted} tokens", str(got))


def _history(given: ComparableRequest, passed: ComparableRequest) -> Found:
    forms = given.dialect.turns, passed.dialect.turns
    if forms[0] is None or forms[1] is None or is_kept(given) or is_kept(passed):
        return False
    wanted, got = user_turns(given.body, forms[0]), user_turns(passed.body, forms[1])
    if len(wanted) != len(got):
        return Lost(counted(len(wanted), "user turn"), str(len(got)))
    for number, (one, other) in enumerate(zip(wanted, got, strict=True), 1):
        if one.results != other.results:
            expected = counted(one.results, "tool result")
            return Lost(f"{expected} in turn {number} of the user", str(other.results))
        if not one.says_as(other):
            _, expected, came, _ = first_difference(one.text, other.text)
            return Lost(f"{expected} in turn {number} of the user", came)
    return bool(wanted)


def _answers(given: ComparableRequest, passed: ComparableRequest) -> Found:
    forms = given.dialect.turns, passed.dialect.turns
    is_judged = _history(given, passed) is True  # where turns are lost, that rule says so
    if forms[0] is None or forms[1] is None or not is_judged:
        return False
    wanted, got = (
        repeated_answers(side.body, form)
        for side, form in zip((given, passed), forms, strict=True)
        if form is not None
    )
    if not is_within(wanted.text, got.text):
        _, expected, came, _ = first_difference(wanted.text, got.text)
        return Lost(f"{expected} in what the model said", came)
    if (twice := _said_more(wanted, got)) is not None:
        return Lost(f"{view(shortened(twice))} of the model once", "it twice")
    for name, arguments in wanted.calls:
        if PLAIN_NAME.fullmatch(name) and (name, arguments) not in got.calls:
            others = (Counter(got.calls) - Counter(wanted.calls)).elements()
            came = ", ".join(f"{one}({inputs})" for one, inputs in others)
            call = shortened(f"{name}({arguments})")
            return Lost(f"the call {call}", shortened(came) if came else NONE)
    if not is_within(wanted.results, got.results):
        _, expected, came, _ = first_difference(wanted.results, got.results)
        return Lost(f"{expected} in what tools gave", came)
    return wanted != RepeatedAnswers()


def _said_more(wanted: RepeatedAnswers, got: RepeatedAnswers) -> str | None:
    """A long text of the model that comes more often than it was sent."""
    one, other = ("".join(each.text.split()) for each in (wanted, got))
    long = (each for each in wanted.texts if len(each) >= _TELLING)
    return next((each for each in long if other.count(each) > one.count(each)), None)


def _choice(given: ComparableRequest, passed: ComparableRequest) -> Found:
    script, wanted, got = passed.dialect.script, wish_of(given), wish_of(passed)
    if given.tools is None or script is None or not script.wishes.choice:
        return False
    if wanted.has_no_calls:
        is_kept = got.has_no_calls or passed.tools is None
        return is_kept or Lost("no call", "calls are free")
    if not wanted.call:
        return False
    called = "any call" if wanted.call == ANY_CALL else f"a call of {shortened(wanted.call)}"
    if not got.call:
        return Lost(called, "calls are free" if not got.has_no_calls else "no call")
    is_any = ANY_CALL in (wanted.call, got.call)
    return is_any or wanted.call == got.call or Lost(called, f"a call of {shortened(got.call)}")


def _settings(given: ComparableRequest, passed: ComparableRequest) -> Found:
    """Rule 7."""
    script = passed.dialect.script
    stops = wish_of(given).stops if script is not None and script.wishes.stops else ()
    for stop in stops:
        if stop not in wish_of(passed).stops:
            return Lost(f"the stop sequence {view(stop)}", NONE)
    wanted, got = _temperature(given.body), _temperature(passed.body)
    efforts = requested_effort(given.body), passed_effort(passed.body)
    is_off = efforts[0] is not None and efforts[0].stance == "off"
    if wanted is None or not is_off or (efforts[1] and efforts[1].stance == "on"):
        return bool(stops)
    if got is None or got > wanted:
        return Lost(f"a temperature of {wanted}", NONE if got is None else str(got))
    return True


def _temperature(body: Any) -> float | None:
    stated = (value_at(body, *path.split(".")) for path in _TEMPERATURES)
    return next((float(each) for each in stated if type(each) in (int, float)), None)


_COMPARED: Final[
    tuple[tuple[Rule, Callable[[ComparableRequest, ComparableRequest], Found]], ...]
] = (
    (ASKED_EFFORT, _effort),
    (ASKED_TOOLS, _tools),
    (ASKED_LIMIT, _limit),
    (ASKED_HISTORY, _history),
    (ASKED_ANSWERS, _answers),
    (ASKED_CHOICE, _choice),
    (ASKED_SETTINGS, _settings),
    (ASKED_SYSTEM_PROMPT, instructions),
    (ASKED_TOOL_TEXTS, tool_texts),
    (ASKED_SEALED, sealed),
    (ASKED_FORMAT, answer_format),
)
