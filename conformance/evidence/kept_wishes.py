"""Judges a server's answer by the form that its request asks for, and by its own counts.

Rule 1: a call that the request demands comes, one that it forbids does not. Only functions that the
        request offers count, and an answer that was cut may lack it.
Rule 2: a stop sequence ends the text before it; thinking may hold it. vLLM and SGLang leave it in
        where a separate field says so.
Rule 3: where the total is the sum of input and output, thinking is counted within the output, and
        text next to it is counted, too. APIs that count it apart are not judged.
Rule 4: usage is missed in a body only if a stream before it in the recording states some, and the
        count of thinking only if the body shows its thinking.
Rule 5: thinking is missed where it is counted, within the output as raw thinking is, the request
        asks for it, and an answer before it in the recording shows its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.core.framing import framing_of
from conformance.core.json_values import NOT_JSON, decode_json
from conformance.dialects.base import Dialect
from conformance.dialects.json_edge import elements
from conformance.dialects.requested_effort import passed_effort, requested_effort
from conformance.dialects.wishes import ANY_CALL, AnswerWish
from conformance.evidence.step_counts import StepCount, count_of
from conformance.judging.offered_tools import OfferedTools
from conformance.judging.transcript import Transcript
from conformance.judging.wish_rules import (
    BODY_TYPED,
    CALL_AS_ASKED,
    JSON_AS_ASKED,
    OFF_UNCOUNTED,
    STOPS_KEPT,
    TEXT_COUNTED,
    THINKING_SHOWN,
    USAGE_AS_STREAMED,
)
from conformance.rules.forms.differences import view
from conformance.rules.model import Rule

_KEEPS_STOPS: Final = ("include_stop_str_in_output", "no_stop_trim")
_ENDED: Final = frozenset({"complete", "tools"})
_UTF8: Final = frozenset({"utf-8", "utf8", "us-ascii"})

Found = tuple[Rule, str]
"""A rule that has something to judge, and what breaks it; empty where nothing does."""


def wish_of(dialect: Dialect, body: Any) -> AnswerWish:
    """What a request demands of the form of its answer."""
    return dialect.script.wishes.read(body) if dialect.script else AnswerWish()


def judged_wishes(dialect: Dialect, body: Mapping[str, Any], answer: Transcript) -> Iterator[Found]:
    """What a whole answer keeps of the form that its request asks for, and how it counts."""
    wish = wish_of(dialect, body)
    yield from _call(dialect, wish, answer)
    yield from _stops(body, wish, answer)
    yield from _json(wish, answer)
    yield from _text_counted(dialect, answer)
    yield from _off_uncounted(body, answer)
    yield from _typed(answer)


def judged_usage(
    answer: Transcript, streamed: StepCount | None, thought: StepCount | None
) -> Iterator[Found]:
    """Whether a whole body has usage, where a stream before it shows that there is some.

    `streamed` is that stream, `thought` one that counts its thinking.
    """
    if framing_of(answer.exchange) != "body":
        return
    if count_of(answer, "output"):
        is_uncounted = answer.thought and "reasoning" not in answer.usage
        has = f"{thought.role} has them ({thought.thought})" if thought and is_uncounted else ""
        yield USAGE_AS_STREAMED, f"expected tokens of thinking, as {has}, got none" if has else ""
    elif streamed is not None:
        has = f"{streamed.role} has it ({streamed.written} tokens of output)"
        yield USAGE_AS_STREAMED, f"expected usage, as {has}, got none"


def judged_thinking(
    dialect: Dialect, body: Mapping[str, Any], answer: Transcript, shown: StepCount | None
) -> Iterator[Found]:
    """Whether counted thinking shows, where an answer before it shows that it can (rule 5)."""
    level = passed_effort(body)
    is_wanted = level is not None and level.stance == "on" and dialect.counts_within
    count = count_of(answer, "reasoning")
    if shown is None or not (is_wanted and count):
        return
    message = f"expected thinking, of which {count} tokens are counted, as {shown.role} shows it"
    yield THINKING_SHOWN, "" if answer.thought else f"{message}, got none"


def _call(dialect: Dialect, wish: AnswerWish, answer: Transcript) -> Iterator[Found]:
    is_judged = (wish.call or wish.has_no_calls) and answer.ending in _ENDED
    tools = OfferedTools.of(dialect, dialect.stated(answer.exchange.request)) if is_judged else None
    if tools is None:
        return
    called = [str(call.get("name")) for call in answer.own_tools]
    shown = f"a call of {', '.join(called)}" if called else "none"
    if wish.has_no_calls:
        yield CALL_AS_ASKED, f"expected no call, got {shown}" if called else ""
    elif wish.call == ANY_CALL:
        yield CALL_AS_ASKED, "" if called else "expected a call, got none"
    elif wish.call in tools.names:
        is_there = wish.call in called
        yield CALL_AS_ASKED, "" if is_there else f"expected a call of {wish.call}, got {shown}"


def _stops(body: Mapping[str, Any], wish: AnswerWish, answer: Transcript) -> Iterator[Found]:
    if not wish.stops or any(body.get(key) for key in _KEEPS_STOPS):
        return
    text = "".join(answer.text)
    if not text:
        return
    found = next((stop for stop in wish.stops if stop in text), None)
    yield STOPS_KEPT, f"expected no text with {view(found)}, got {view(text)}" if found else ""


def _json(wish: AnswerWish, answer: Transcript) -> Iterator[Found]:
    text = "".join(answer.text).strip()
    if wish.schema is None or answer.ending != "complete" or not text:
        return
    value = decode_json(text)
    if value is NOT_JSON:
        yield JSON_AS_ASKED, f"expected only JSON, got {view(text)}"
        return
    keys = [each for each in elements(wish.schema.get("required")) if isinstance(each, str)]
    lacking = [each for each in keys if not isinstance(value, Mapping) or each not in value]
    yield JSON_AS_ASKED, f"expected JSON with {lacking[0]!r}, got {view(text)}" if lacking else ""


def _text_counted(dialect: Dialect, answer: Transcript) -> Iterator[Found]:
    names = ("input", "output", "reasoning", "total")
    read, written, thought, total = (count_of(answer, name) for name in names)
    is_within = total in (0, read + written) and dialect.counts_within
    if not (thought and written and is_within and "".join(answer.text).strip()):
        return
    is_all = thought == written
    message = (
        f"expected fewer than {written} tokens of thinking in an answer with text, got {thought}"
    )
    yield TEXT_COUNTED, message if is_all else ""


def _off_uncounted(body: Mapping[str, Any], answer: Transcript) -> Iterator[Found]:
    level = requested_effort(body)
    if level is None or level.stance != "off" or answer.thought or "reasoning" not in answer.usage:
        return
    count = count_of(answer, "reasoning")
    message = f"expected no tokens of thinking with {level.path}: {view(level.value)}, got {count}"
    yield OFF_UNCOUNTED, message if count else ""


def _typed(answer: Transcript) -> Iterator[Found]:
    response = answer.exchange.response
    stated = response.header("content-type") if response else None
    if not stated or framing_of(answer.exchange) != "body":
        return
    kind, *parameters = (part.strip() for part in stated.lower().split(";"))
    sets = [part.partition("=")[2].strip('" ') for part in parameters if part[:8] == "charset="]
    is_right = "json" in kind and _UTF8.issuperset(sets)
    yield BODY_TYPED, "" if is_right else f"expected JSON in UTF-8, got {view(stated)}"
