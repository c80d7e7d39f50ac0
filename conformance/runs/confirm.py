"""Asks again where there are findings: how often they come, and whether texts are steady."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from conformance.evidence.expectations import compares_answers
from conformance.judging.result import StreamResult
from conformance.rules.verdicts import Verdict
from conformance.runs.api_run import ApiRun
from conformance.runs.scenario_run import ScenarioOutcome, run_scenario


async def confirm_findings(run: ApiRun, outcome: ScenarioOutcome) -> None:
    """Runs a scenario again as often as the user wants, once at least where texts decide."""
    results = run.judge_kept_run(outcome.run.name)
    ids = _finding_ids(results)
    texts_decide = run.deterministic and _fails_by_text(run, results)
    confirm = run.target.options.confirm
    ids_of_runs = [ids]
    for _ in range(max(confirm - 1 if ids else 0, int(texts_decide))):
        other = await run_scenario(outcome.run, run.target.sender, run.settings)
        if other.spent or other.silent:
            break
        ids_of_runs.append(_judge_unkept(run, other))
        if texts_decide and not _says_same(run, outcome, other):
            run.deterministic = False
    if confirm > 1:
        for each in ids:
            times = sum(each in found for found in ids_of_runs)
            run.finding_notes[each] = f"finding {each}: {times} of {len(ids_of_runs)} runs"


def _finding_ids(results: Sequence[StreamResult]) -> set[str]:
    return {finding.id for result in results for finding in result.findings}


def _judge_unkept(run: ApiRun, outcome: ScenarioOutcome) -> set[str]:
    """Ids of the findings of a scenario that is not part of the run, and is not kept."""
    with TemporaryDirectory(prefix="conformance-") as folder:
        path = run.write_outcome(outcome, run.target.folder.at_path(Path(folder)))
        return _finding_ids(run.judge_recording(path))


def _fails_by_text(run: ApiRun, results: Sequence[StreamResult]) -> bool:
    failed = {rule for each in results for rule, v in each.verdicts.items() if v is Verdict.FAIL}
    return any(compares_answers(r) for r in run.target.rulebook.rules if r.id in failed)


def _says_same(run: ApiRun, one: ScenarioOutcome, other: ScenarioOutcome) -> bool:
    reading = run.settings.reading
    pairs = ((each, other.exchange_of(each.role)) for each in one.answers)
    return all(
        b is None
        or one.transcript_of(a, reading).spoken() == other.transcript_of(b, reading).spoken()
        for a, b in pairs
    )
