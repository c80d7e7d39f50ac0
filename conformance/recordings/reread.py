"""Bytes that another profile judged already: only the rules that it changes read them again.

An untrusted recording is judged twice: by its profile, and as evidence alone. Most profiles change
a handful of rules, and rules do not look at each other.

Invariant: the view equals that of all bytes judged anew. So it is given only where nothing but the
profile differs, and where verdicts of the bytes hang on single rules: one answer, no transcript,
no rules over several exchanges.

Most recordings need not even that: where the bytes leave none of these rules open, by neither
profile, the evidence on all others is the same.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from conformance.core.events import Exchange
from conformance.judging.fast.running import check_wire
from conformance.judging.rulebook import Rulebook
from conformance.judging.view import JudgedView, JudgeSetting, finding_order
from conformance.rules.forms.compare import Compare
from conformance.rules.rule_set import RuleSet
from conformance.rules.verdicts import Verdict

OPEN_VERDICTS: Final = frozenset({Verdict.FAIL, Verdict.INCONCLUSIVE})


class ReadBytes(Struct, frozen=True):
    """What came of the bytes of an exchange, before anything else was written of it."""

    setting: JudgeSetting
    view: JudgedView


def reread(
    before: ReadBytes, setting: JudgeSetting, exchange: Exchange, rulebook: Rulebook
) -> JudgedView | None:
    """What comes of the same bytes by another profile; None where they must be judged anew."""
    if not _is_comparable(before, setting):
        return None
    changed = rulebook.changed(before.setting.bound, setting.bound)
    view = before.view
    if changed.rules:
        anew = _judged_by(changed, setting, exchange)
        view = _joined(view, anew, [each.rule.id for each in setting.bound.rules.rules])
    how = {"profile": setting.profile.name, "named": setting.named, "notes": setting.notes}
    return JudgedView(replace(view.judged, **how), setting.bound.off, view.contributions)


def leaves_as_open(
    before: ReadBytes, setting: JudgeSetting, exchange: Exchange, rulebook: Rulebook, *, links: bool
) -> bool:
    """Whether it is certain that by another profile no other rules are left open, or fail.

    A rule that fails may withdraw others. One that compares speaks at the end alone, and not at all
    where a request had to bring an answer back and none may (`links`).
    """
    if setting.bound.off or not _is_comparable(before, setting):
        return False
    changed = rulebook.changed(before.setting.bound, setting.bound)
    comparing = (each.rule.form for each in changed.rules if isinstance(each.rule.form, Compare))
    if any(links or not form.is_linked for form in comparing):
        return False
    was = before.view.judged.verdicts
    now = _judged_by(changed, setting, exchange).judged.verdicts if changed.rules else {}
    return not any(OPEN_VERDICTS & {was.get(rule), verdict} for rule, verdict in now.items())


def _judged_by(rules: RuleSet, setting: JudgeSetting, exchange: Exchange) -> JudgedView:
    alone = replace(setting, bound=replace(setting.bound, rules=rules))
    return check_wire(alone, exchange, exchange.chunks, exchange.end)


def _is_comparable(before: ReadBytes, setting: JudgeSetting) -> bool:
    was = before.setting
    return (
        setting.bound.reading == was.bound.reading
        and (setting.dialect, setting.fidelity) == (was.dialect, was.fidelity)
        and not (setting.keep or setting.bound.scenario.rules or was.bound.scenario.rules)
        and before.view.judged.answers == 1
    )


def _joined(view: JudgedView, anew: JudgedView, rules: list[str]) -> JudgedView:
    """What came of the rules that stayed, and anew of those that changed; in the order of all."""
    was, now = view.judged, anew.judged
    stayed = frozenset(rules) - now.verdicts.keys()
    verdicts, reasons = {**was.verdicts, **now.verdicts}, {**was.reasons, **now.reasons}
    has_reason = {each for each in stayed if each in was.reasons} | now.reasons.keys()
    findings = (*(each for each in was.findings if each.rule in stayed), *now.findings)
    given = (each for each in view.contributions if each[0] in stayed)
    judged = replace(
        was,
        verdicts={rule: verdicts[rule] for rule in rules},
        reasons={rule: reasons[rule] for rule in rules if rule in has_reason},
        findings=tuple(sorted(findings, key=finding_order)),
    )
    return replace(view, judged=judged, contributions=(*given, *anew.contributions))
