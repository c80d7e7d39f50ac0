"""What shipped scenarios play behind applications breaks inside its thinking, in every API."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.core.events import Chunk, Exchange, Response
from conformance.dialects import get
from conformance.dialects.base import Reading
from conformance.judging.transcript import read_transcript
from conformance.runs.recorded import recorded_calls
from conformance.scenarios import Step, load_scenarios
from conformance.targets.played_answers import RecordedCalls


def breaking() -> Iterator[tuple[str, Step]]:
    for scenario in load_scenarios():
        for step in scenario.steps:
            yield from ((dialect, step) for dialect in step.behind if step.breaks)


CASES = list(breaking())


@pytest.mark.parametrize(("dialect", "step"), CASES, ids=[f"{d}-{s.role}" for d, s in CASES])
def test_a_played_answer_breaks_inside_its_thinking(dialect: str, step: Step) -> None:
    source = RecordedCalls(recorded_calls(step.behind), step.breaks)
    said = source.answer_call(dialect, 0, 1, {"stream": True})
    assert not said.misfit
    assert (said.is_cut, said.hangs) == (step.breaks == "cut", step.breaks == "hangs")
    head = Response(said.status, "1.1", (("content-type", said.content_type),))
    exchange = Exchange(dialect=dialect, response=head, chunks=tuple(map(Chunk, said.chunks)))
    answer = read_transcript(exchange, get(dialect), Reading())
    assert "".join(answer.thinking)
    assert not answer.text
    assert answer.ending == "cut"
