"""What a recording holds of a client, judged by the events that the client declared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from conformance.core.events import Exchange
from conformance.evidence.comparisons import Comparison
from conformance.evidence.sent import read_sent
from conformance.judging.client import check_client, compares_views, unheard
from conformance.judging.result import StreamResult
from conformance.judging.rulebook import Rulebook
from conformance.judging.view import Judged, Setting
from conformance.profiles.profile import reading
from conformance.rules.verdicts import Verdict


def watched(
    setting: Setting, exchange: Exchange, seen: Iterable[Mapping[str, Any]], rulebook: Rulebook
) -> Judged:
    """Judges a client's report of an exchange that was recorded with it."""
    judged = check_client(setting, exchange, seen)
    if setting.declared is None:
        return judged
    sent = read_sent(exchange, setting.dialect, reading(setting.profile)).types
    silent = unheard(rulebook.rules, judged.result.verdicts, sent, setting.declared)
    return replace(judged, result=_silenced(judged.result, dict(silent)))


def heard(
    compared: Sequence[Comparison], rulebook: Rulebook, declared: frozenset[str] | None
) -> list[Comparison]:
    """Comparisons, but for those between the views of events that the client does not declare."""
    if declared is None:
        return list(compared)
    verdicts = {each.rule: each.verdict for each in compared}
    between = filter(compares_views, rulebook.rules)
    silent = dict(unheard(between, verdicts, frozenset(), declared))
    return [
        Comparison(each.rule, Verdict.NOT_APPLICABLE, silent[each.rule], ())
        if each.rule in silent
        else each
        for each in compared
    ]


def _silenced(result: StreamResult, silent: Mapping[str, str]) -> StreamResult:
    return replace(
        result,
        verdicts={**result.verdicts, **dict.fromkeys(silent, Verdict.NOT_APPLICABLE)},
        reasons={**result.reasons, **silent},
        findings=tuple(found for found in result.findings if found.rule not in silent),
    )
