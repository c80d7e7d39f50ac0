"""Whether what a broken rule read was replaced by redaction: the stand-ins are there to be seen."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from conformance.cassette.redaction.credentials import find_credentials
from conformance.cassette.redaction.placeholders import has_check
from conformance.core.events import Event, Exchange
from conformance.judging.fast.joined import read_joined
from conformance.judging.result import Finding
from conformance.judging.view import JudgeSetting
from conformance.rules.forms.fold import Fold
from conformance.rules.model import Rule
from conformance.rules.reads import fields_read, values_at

_WORD: Final = re.compile(r"[^\s\"'<>(){}\[\],;]{8,}")


class ReplacedTexts:
    """The texts of one exchange; its events are read on demand."""

    def __init__(self, setting: JudgeSetting, exchange: Exchange) -> None:
        self._setting = setting
        self._exchange = exchange
        self._events: list[Event] | None = None

    def explain(self, rule: Rule, findings: Iterable[Finding]) -> bool:
        """Whether each finding is where the rule read a stand-in.

        A fold reads all texts before, joined; any other form the event of the finding.
        """
        return all(self._is_of_stand_in(rule, each) for each in findings)

    def _is_of_stand_in(self, rule: Rule, finding: Finding) -> bool:
        fields = fields_read(rule)
        by_path: dict[tuple[str, str], list[str]] = {}
        for event in self._events_of(finding, is_fold=isinstance(rule.form, Fold)):
            for path in fields.of(event.type):
                texts = (each for each in values_at(event, path) if isinstance(each, str))
                by_path.setdefault((event.type, path), []).extend(texts)
        return any(
            any(map(holds_stand_in, texts)) or holds_stand_in("".join(texts))
            for texts in by_path.values()
        )

    def _events_of(self, finding: Finding, *, is_fold: bool) -> Iterator[Event]:
        if self._events is None:
            setting = self._setting
            read = read_joined(self._exchange, setting.dialect, setting.bound.reading, joins=False)
            self._events = [event for each in read for event in each.events]
        for event in self._events:
            if event.number == finding.event or (is_fold and event.number < finding.event):
                yield event


def holds_stand_in(text: str) -> bool:
    """Whether one with a check is a text, a word of it, or the end of a word shaped like a key."""
    return has_check(text) or any(map(_is_word_replaced, _WORD.findall(text)))


def _is_word_replaced(word: str) -> bool:
    raw = word.encode("utf-8", "surrogatepass")
    spans = (raw[span.start : span.stop] for span in find_credentials(raw))
    return has_check(word) or any(has_check(each.decode("utf-8", "replace")) for each in spans)
