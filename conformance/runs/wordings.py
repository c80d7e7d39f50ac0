"""Other wordings of a scenario's requests, so that parts of one answer are recognisable in another.

If a soak sends only one scenario, and the target does not repeat marker words, all answers are
equal, and cross-talk only looks like an odd fault. So such a scenario is also sent in other
wordings: each asks for another first word, the same in all its requests. The answers to them are
learnt before, one request at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from conformance.runs.api_run import ApiRun
from conformance.runs.concurrent_streams import (
    AnswerKey,
    LoneAnswers,
    answers_of_first_round,
    lone_answer,
)
from conformance.runs.execute import judge_unkept
from conformance.runs.foreign_pieces import LoneAnswer, shows_in
from conformance.runs.plan import ScenarioRun
from conformance.runs.scenario_run import run_scenario

MOST: Final = 3  # other wordings of one scenario


class Wordings(Struct, frozen=True):
    """What is answered to each wording alone; `usable` are those of a scenario, by its name."""

    alone: LoneAnswers
    usable: Mapping[str, Sequence[int]] = {}

    def in_turn(self, run: ScenarioRun, number: int) -> ScenarioRun:
        """The run of a round, in the wording that is due."""
        known = (0, *self.usable.get(run.scenario.name, ()))
        return replace(run, round=number, wording=known[number % len(known)])


async def learn_wordings(run: ApiRun, scenarios: Sequence[ScenarioRun]) -> Wordings:
    """Asks scenarios otherwise whose answers say nothing that only they say."""
    answers = answers_of_first_round(run)
    usable: dict[str, list[int]] = {}
    for scenario_run in scenarios:
        if _is_distinguishable(scenario_run.scenario.name, answers):
            continue
        for wording in range(1, MOST + 1):
            worded = replace(scenario_run, wording=wording)
            outcome = await run_scenario(worded, run.target.sender, run.settings)
            if outcome.spent or outcome.silent:
                return Wordings(LoneAnswers(answers), usable)
            # What fails in this wording alone would be blamed on the load.
            if judge_unkept(run, outcome) <= _known_findings(run, worded):
                answers |= (lone_answer(run, worded, each) for each in outcome.answers)
                usable.setdefault(worded.scenario.name, []).append(wording)
    return Wordings(LoneAnswers(answers), usable)


def _is_distinguishable(name: str, answers: Mapping[AnswerKey, LoneAnswer]) -> bool:
    """Whether a piece of some other answer would show in each answer of a scenario."""
    own = (each for key, each in answers.items() if key.scenario == name)
    return all(any(shows_in(each, other) for other in answers.values()) for each in own)


def _known_findings(run: ApiRun, scenario_run: ScenarioRun) -> set[str]:
    results = run.judge_kept_run(scenario_run.name)
    return {finding.id for result in results for finding in result.findings}
