"""Finds streams of a corpus in its source again, and judges them once more to show them.

The output holds no bodies, so showing a stream needs the source.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from conformance.cassette import Recording
from conformance.core.errors import ConformanceError, Place, UsageError
from conformance.core.events import Exchange
from conformance.corpus.fragment_work import read_streams
from conformance.corpus.fragments import PARQUET, RANGE_BYTES, Fragment
from conformance.corpus.grouping import StreamPlace
from conformance.corpus.json_rows import holds_rows, is_json_rows
from conformance.corpus.judge import CorpusJudge, JudgedStream
from conformance.corpus.output import CorpusAbout
from conformance.corpus.rows import CorpusStream
from conformance.corpus.storage import Storage
from conformance.judging.result import StreamResult
from conformance.report.html.exchange import RecordedStreams

_Part = tuple[str, int]


class Exemplar(Struct, frozen=True):
    """A stream of the source with its result, or the reason why it is not there."""

    place: StreamPlace
    stream: CorpusStream | None = None
    exchange: Exchange | None = None
    result: StreamResult | None = None
    missing: str = ""


def find_exemplars(
    about: CorpusAbout, places: Iterable[StreamPlace], source: str | None
) -> dict[StreamPlace, Exemplar]:
    """The streams of some places, judged as they were; each part of the source is read once.

    `source` is where the source lies now, None where it was.
    """
    wanted: dict[_Part, list[StreamPlace]] = {}
    for place in dict.fromkeys(places):
        wanted.setdefault((place.file, place.part), []).append(place)
    try:
        storage = Storage(source or about.source)
    except UsageError as err:
        return {each: Exemplar(each, missing=str(err)) for some in wanted.values() for each in some}
    judge = CorpusJudge(about.choices)
    return {
        each.place: each
        for part, some in wanted.items()
        for each in _of_part(storage, judge, part, some)
    }


def _of_part(
    storage: Storage, judge: CorpusJudge, part: _Part, places: list[StreamPlace]
) -> Iterator[Exemplar]:
    by_row: dict[int, list[StreamPlace]] = {}
    for place in places:
        by_row.setdefault(place.row, []).append(place)
    try:
        fragment = _fragment_at(storage, judge, *part)
        for row in read_streams(storage, fragment, judge.choices):
            if row.row in by_row:
                judged = judge.judge_stream(row)
                for place in by_row.pop(row.row):
                    yield _as_exemplar(judged, place, storage)
            if not by_row:
                return
    except (ConformanceError, OSError) as err:
        reason = str(err)
    else:
        reason = "the source has no such row any more"
    for place in (each for some in by_row.values() for each in some):
        yield Exemplar(place, missing=reason)


def _fragment_at(storage: Storage, judge: CorpusJudge, path: str, part: int) -> Fragment:
    """The fragment of a place in a source; a recording may have the name of a file of rows."""
    name = path.lower()
    if name.endswith(PARQUET):
        return Fragment("parquet", path, part)
    if is_json_rows(name) and holds_rows(storage, path, judge.choices.columns):
        return Fragment("json", path, part, RANGE_BYTES)
    return Fragment("files", path, files=(path,))


def _as_exemplar(judged: object, place: StreamPlace, storage: Storage) -> Exemplar:
    if isinstance(judged, JudgedStream) and judged.stream.id == place.id:
        stream = judged.stream
        exchanges = {each.number: each for each in stream.recording.exchanges}
        for result in judged.results:
            if (result.exchange, result.view) == (place.exchange, place.view):
                named = storage.shown(place.file)
                shown = replace(result, file=named if stream.path else f"{named} {stream.id}")
                return Exemplar(place, stream, exchanges[result.exchange], shown)
    return Exemplar(place, missing="the source has another stream there now")


class ExemplarStreams(RecordedStreams):
    """The exchanges of exemplars, for pictures."""

    known: Mapping[tuple[str, int], tuple[Recording, Exchange]] = field(default_factory=dict)

    def exchange(self, stream: StreamResult) -> Exchange:
        found = self.known.get((stream.file, stream.exchange))
        if found is None:
            raise UsageError("the stream no longer exists", place=Place(stream.file))
        recording, exchange = found
        self._latest = stream.file, recording
        return exchange
