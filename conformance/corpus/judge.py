"""The judge of a corpus: one value for streams of every dialect, that pickles as its choices."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from conformance import dialects
from conformance.core.errors import ConformanceError, SpecError
from conformance.core.excerpts import clipped
from conformance.core.reading import Reading
from conformance.corpus.columns import ColumnNames
from conformance.corpus.rows import CorpusStream, FragmentRow, UnreadableStream, row_stream
from conformance.judging.checker import choose_named_profile
from conformance.judging.result import StreamResult
from conformance.judging.rulebook import Rulebook
from conformance.profiles.lookup import profile_at_hand
from conformance.profiles.profile import reading
from conformance.recordings.check import check_recording, check_settled
from conformance.recordings.choices import CheckChoices
from conformance.recordings.settings import RecordingSettings
from conformance.rules.forms.compare import Compare
from conformance.rules.model import Rule

_MOST_REASON: Final = 400


class JudgeChoices(Struct, frozen=True, omit_defaults=True):
    """How the streams of a corpus are judged; None leaves it to the source, then to the stream."""

    dialect: str | None = None
    profile: str | None = None
    suites: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    as_of: str | None = None
    columns: ColumnNames = ColumnNames()


class JudgedStream(Struct, frozen=True):
    """A stream and the results of its exchanges, each as an exchange and view has one."""

    stream: CorpusStream
    results: tuple[StreamResult, ...]


class CorpusJudge:
    """Judges streams of a corpus; may be shared by threads, and pickled.

    Raises UsageError and SpecError as `Rulebook.load` does.
    """

    def __init__(self, choices: JudgeChoices | None = None) -> None:
        self.choices = choices or JudgeChoices()
        _expect_profile(self.choices)
        self.rulebook = Rulebook.load(self.choices.suites, self.choices.rules, self.choices.as_of)

    @cached_property
    def rules_hash(self) -> str:
        """Equal for two judges with the same rules."""
        listed = "\n".join(map(_rule_text, self.rulebook.rules))
        return hashlib.blake2b(listed.encode(), digest_size=8).hexdigest()

    def judge_stream(self, row: FragmentRow) -> JudgedStream | UnreadableStream:
        """The results of a stream, as `check` gives them; why there are none where it raises."""
        return self.judge_streams((row,))[0]

    def judge_streams(
        self, rows: Sequence[FragmentRow], *, collects: bool = False
    ) -> list[JudgedStream | UnreadableStream]:
        """As `judge_stream`, of several: all are recognised before the first one is judged.

        Where it `collects`, results have the keys by which rows of one conversation are found.
        """
        settled = [self._recognise(row, collects=collects) for row in rows]
        return [self._judge(*pair, collects) for pair in zip(rows, settled, strict=True)]

    def choices_for(self, stream: CorpusStream, *, collects: bool = False) -> CheckChoices:
        choices = self.choices
        return CheckChoices(
            choices.dialect or stream.dialect,
            choices.profile or stream.profile,
            among_others=collects and bool(self.linked_rules) and may_go_on(stream),
        )

    @cached_property
    def linked_rules(self) -> frozenset[str]:
        """The rules that compare an answer with the request that brings it back."""
        rules = self.rulebook.rules
        return frozenset(
            each.id for each in rules if isinstance(each.form, Compare) and each.form.is_linked
        )

    def _recognise(self, row: FragmentRow, *, collects: bool) -> RecordingSettings | None:
        """A row's recording with its dialect recognised; None for a file, and if that fails.

        It is done for many rows in sequence: once between two streams it costs three times as much,
        because the processor's caches are cold.
        """
        if isinstance(row, UnreadableStream) or row.path:
            return None
        choices = self.choices_for(row, collects=collects)
        settings = RecordingSettings(row.recording, self.rulebook, choices)
        try:
            settings.shown_dialect(row.recording.exchanges[0])
        except Exception:  # noqa: BLE001  # it is reported when the row is judged
            return None
        return settings

    def _judge(
        self, row: FragmentRow, settings: RecordingSettings | None, collects: bool
    ) -> JudgedStream | UnreadableStream:
        if isinstance(row, UnreadableStream):
            return row
        try:
            results = (
                check_recording(
                    row.recording, self.rulebook, self.choices_for(row, collects=collects)
                )
                if settings is None
                else check_settled(settings)
            )
        except SpecError:
            raise
        except ConformanceError as err:
            return UnreadableStream(row.row, row.id, err.message, row.path)
        except Exception as err:  # noqa: BLE001  # no row may stop the judging of others
            reason = f"internal error: {type(err).__name__}: {err}"
            return UnreadableStream(row.row, row.id, clipped(reason, _MOST_REASON), row.path)
        return JudgedStream(row, tuple(results))

    def judge_row(
        self, values: Mapping[str, Any], row: int = 0, place: str = "row"
    ) -> JudgedStream | UnreadableStream:
        """The results of a row of named columns, or why there are none."""
        stream = row_stream(values, self.choices.columns, row, Path(place), place)
        return self.judge_stream(stream)

    def reading_of(self, result: StreamResult) -> Reading:
        """How the stream of a result was read; as strict has it where its profile is a file."""
        try:
            return reading(self.rulebook.profile(result.profile, result.dialect))
        except ConformanceError:
            return reading(profile_at_hand(result.profile, result.dialect))

    def __getstate__(self) -> JudgeChoices:
        return self.choices

    def __setstate__(self, choices: JudgeChoices) -> None:
        self.__init__(choices)  # type: ignore[misc]


def may_go_on(stream: CorpusStream) -> bool:
    """Whether it is a row whose request can name what it continues.

    Streams in a separate file are linked there, each file by itself.
    """
    if stream.path:
        return False
    request = stream.recording.exchanges[0].request
    return request is not None and isinstance(request.json, dict)


def _expect_profile(choices: JudgeChoices) -> None:
    """Raises UsageError where no dialect that may come has the profile."""
    if choices.profile is None:
        return
    faults: list[ConformanceError] = []
    for name in (choices.dialect,) if choices.dialect else dialects.SUPPORTED:
        try:
            choose_named_profile(choices.profile, dialects.get(name), ())
        except SpecError:
            raise
        except ConformanceError as err:
            faults.append(err)
        else:
            return
    raise faults[0]


def _rule_text(rule: Rule) -> str:
    """All that a rule judges by; where its file stands is another matter on another machine."""
    aliases = [
        (each.name, each.type, each.conditions, each.layer)
        for each in (*rule.aliases.values(), *(rule.subject or {}).values())
    ]
    return repr((rule.id, rule.level, rule.form, rule.applies, rule.slice, rule.scope, aliases))
