"""What streams of one kind look like, counted from the first few of each kind in a fragment.

A shape is dear: it decodes every event. So of each population (dialect, provider, model and week)
the first `SEEN` streams of a fragment are looked at, and no more than one in `SHARE` of all: the
same ones every time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from conformance.core.errors import ConformanceError
from conformance.corpus.judge import CorpusJudge, JudgedStream
from conformance.corpus.rows import CorpusStream, week_of
from conformance.diff.populations import ShapeTrait, merge_traits
from conformance.diff.shape import wire_shape
from conformance.judging.result import StreamResult

SEEN: Final = 3
SHARE: Final = 128
_FREE: Final = 2  # that are looked at in any fragment
_MOST_BYTES: Final = 1 << 16  # of a stream that is looked at


class Population(NamedTuple):
    """Streams that are alike in these; empty where the source does not say."""

    dialect: str
    provider: str
    model: str
    week: str


class PopulationWatch:
    """Looks at the first streams of each population of one fragment."""

    def __init__(self, judge: CorpusJudge) -> None:
        self._judge = judge
        self._counts: dict[Population, Counter[ShapeTrait]] = {}
        self._judged_counts: Counter[Population] = Counter()
        self._shapes = 0
        self._streams = 0

    def see_stream(self, judged: JudgedStream) -> None:
        self._streams += 1
        for result in judged.results:
            population = population_of(judged.stream, result)
            if self._is_looked_at(judged.stream, result, population):
                self._shapes += 1
                self._judged_counts[population] += 1
                self._count_shape(judged.stream, result, population)

    def counted(self) -> Iterator[tuple[Population, Mapping[ShapeTrait, int]]]:
        """What was seen, population by population."""
        yield from sorted(self._counts.items())

    def _is_looked_at(
        self, stream: CorpusStream, result: StreamResult, population: Population
    ) -> bool:
        is_plain = result.view == "wire" and result.error is None and stream.size <= _MOST_BYTES
        is_spared = self._shapes < _FREE + self._streams // SHARE
        return is_plain and is_spared and self._judged_counts[population] < SEEN

    def _count_shape(
        self, stream: CorpusStream, result: StreamResult, population: Population
    ) -> None:
        exchanges = {each.number: each for each in stream.recording.exchanges}
        try:
            read_as = self._judge.reading_of(result)
            shape = wire_shape(exchanges[result.exchange], result, read_as, {})
        except ConformanceError:
            return
        merge_traits(self._counts.setdefault(population, Counter()), shape)


def population_of(stream: CorpusStream, result: StreamResult) -> Population:
    return Population(result.dialect, stream.provider, stream.model, week_of(stream.time))
