"""The client view: the events that a client under test reports.

Rule 1: a rule is NOT-APPLICABLE to a client that does not declare an event which the rule names, if
that event came or the rule had nothing to judge.
Rule 2: rules that compare the two views use only declared events, so they apply as soon as one of
their events is declared.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, ClassVar, Final, Literal

from conformance.cassette import Header
from conformance.core.events import SEMANTIC_EVENTS, Event, Exchange
from conformance.judging.view import ExchangeView, JudgedView, JudgeSetting
from conformance.rules.applies import Evidence
from conformance.rules.compiled import Outcomes
from conformance.rules.forms.compare import Compare
from conformance.rules.model import Rule
from conformance.rules.verdicts import Verdict

IMPLEMENTATION: Final = "implementation"
"""Key of the header with what a client under test states of itself."""
NOT_FIELDS = frozenset({"type", "ms"})
_ENDS: Final = frozenset({"finish", "done", "error", "cut"})
_MAY_BE_BLANK: Final = frozenset({"thinking.delta", "text.delta"})


def declared_events(header: Header) -> frozenset[str] | None:
    """The events that a client under test declared: `implementation` of its start, in the header.

    None where it was not recorded or is not a list of names.
    """
    implementation = header.extra.get(IMPLEMENTATION)
    events = implementation.get("events") if isinstance(implementation, Mapping) else None
    if not isinstance(events, list):
        return None
    return frozenset(event for event in events if isinstance(event, str))


def undeclared_rules(
    rules: Iterable[Rule],
    verdicts: Mapping[str, Verdict],
    sent: Collection[str],
    declared: frozenset[str],
) -> Iterator[tuple[str, str]]:
    """Rules that say nothing of a client by rules 1 and 2, with the reason.

    `sent` are the types of the events that came.
    """
    for rule in rules:
        verdict = verdicts.get(rule.id)
        if verdict is None or verdict is Verdict.NOT_APPLICABLE:
            continue
        named = semantic_types(rule)
        missing = named - declared
        if compares_views(rule):
            missing = frozenset() if named & declared else missing
        elif verdict is not Verdict.VACUOUS:
            missing &= frozenset(sent)
        if missing:
            yield rule.id, f"the client does not report {', '.join(sorted(missing))}"


def semantic_types(rule: Rule) -> frozenset[str]:
    types = {kind for alias in rule.aliases.values() for kind in alias.types}
    return frozenset(types & SEMANTIC_EVENTS.keys())


def compares_views(rule: Rule) -> bool:
    """Whether a rule compares the client's report with the bytes sent."""
    return isinstance(rule.form, Compare) and rule.form.left.view != rule.form.right.view


def check_client(
    setting: JudgeSetting,
    exchange: Exchange,
    seen: Iterable[Mapping[str, Any]],
    *,
    breaks_off: bool = False,
    answers: int = 1,
) -> JudgedView:
    """Judges a client's report: semantic events in the order in which it gave them.

    `breaks_off`: the client itself reports that the answer broke off, so unfinished obligations are
    not missing. `answers` came in sequence: at most so many may begin after the end of another.
    """
    view = ClientView(setting, exchange, answers)
    for number, fields in enumerate(seen, 1):
        view.report(number, fields)
    return view.finish(breaks_off=breaks_off)


class ClientView(ExchangeView):
    """One exchange as a client saw it; every reported event counts as a separate frame."""

    name: ClassVar[Literal["wire", "client"]] = "client"

    def __init__(self, setting: JudgeSetting, exchange: Exchange, sent: int = 1) -> None:
        request = setting.dialect.stated(exchange.request)
        evidence = Evidence(
            request,
            exchange.response,
            view="client",
            role=exchange.role,
            hop=exchange.hop,
            reported=True,
            declared=setting.declared,
            user_choices=exchange.user_choices,
            prompt_texts=partial(setting.dialect.prompt_texts, request),
        )
        super().__init__(setting, exchange, evidence)
        self._words = _FirstWords()
        self._sent = sent  # how many answers
        self._is_over = False  # the answer under way is
        self._message: Any = None  # the id that it began with

    def report(self, number: int, fields: Mapping[str, Any]) -> None:
        """Takes one harness object; fields that the client left out stay absent."""
        kind = str(fields.get("type", "unknown"))
        data = {key: value for key, value in fields.items() if key not in NOT_FIELDS}
        shown = json.dumps(data, ensure_ascii=False, default=repr)
        self.memory.remember(number, kind, shown)
        given = self._words.marked(kind, {"choice": 0, **data})
        begins = kind == "message.start" and self._begins_answer(data.get("id"))
        self._is_over = kind in _ENDS or (self._is_over and not begins)
        self.take([Event(kind, given, number, "semantic", self.answers + begins)])

    def _begins_answer(self, message: Any) -> bool:
        """Whether a message that starts is the next answer: by the end before it, or by its id."""
        before, self._message = self._message, message
        is_other = message is not None and before not in (None, message)
        return (self._is_over or is_other) and self.answers < self._sent

    def finish(self, *, breaks_off: bool) -> JudgedView:
        """The end of the report."""
        self.judge.last += 1
        self.memory.remember(self.judge.last, "end of the report", "")
        return self.judged(self.close("protocol-error" if breaks_off else "eof"))

    def outcomes_shown(self, outcomes: Outcomes) -> Outcomes:
        return Outcomes(each for each in outcomes if each.verdict is not Verdict.NOT_APPLICABLE)


class _FirstWords:
    """Marks white space before the first word of a run of deltas as readers of the wire do."""

    def __init__(self) -> None:
        self._run: tuple[Any, ...] = ()
        self._has_word = False

    def marked(self, kind: str, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """The data of a reported event, `blank` where it says no word yet."""
        text = data.get("text")
        if kind not in _MAY_BE_BLANK or not isinstance(text, str):
            return data
        run = (kind, repr(data["choice"]), repr(data.get("block")))
        if run != self._run:
            self._run, self._has_word = run, False
        self._has_word = self._has_word or not text.isspace()
        return data if self._has_word else {**data, "blank": True}
