"""A folder of cassettes, one per conversation, written while they happen.

What a request repeats says which conversation it continues:

Rule 1: a request that names an earlier response (`previous_response_id`) follows it.
Rule 2: a request whose history begins with all that an earlier request sent, and continues an
answer, follows that one; the longest such beginning counts.
Rule 3: where two exchanges fit alike, nothing is claimed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from conformance.core.errors import CassetteError, Place
from conformance.core.events import Ending, Request
from conformance.dialects import ENDPOINTS, HISTORIES, SUPPORTED, dialect_at
from conformance.targets.recording.cassette_file import CassetteFile, RecordingOptions
from conformance.targets.recording.exchange import ExchangeOutcome, ExchangeRecorder
from conformance.targets.recording.time_limit import LimitTime, unlimited_time

_MOST: Final = 10_000
_FORMS: Final = tuple(each.request for each in SUPPORTED.values() if each.request)
_PREVIOUS: Final = tuple(form.previous for form in _FORMS if form.previous)
_ANSWER_IDS: Final = tuple(
    re.compile(form.answer_id_bytes) for form in _FORMS if form.answer_id_bytes
)


class ExchangePlace(Struct, frozen=True):
    """An exchange by the file that holds it and its number there."""

    file: str
    number: int


class Conversations:
    """Remembers requests and answers, the last 10,000 exchanges."""

    def __init__(self) -> None:
        self._turns: OrderedDict[bytes, list[ExchangePlace]] = OrderedDict()
        self._answered: OrderedDict[str, ExchangePlace] = OrderedDict()

    def preceding_exchange(self, request: Request) -> ExchangePlace | None:
        """The exchange that this request continues; None if that is not known."""
        body = request.json
        if not isinstance(body, dict):
            return None
        for named in (body.get(key) for key in _PREVIOUS):
            if isinstance(named, str) and named in self._answered:
                return self._answered[named]
        history = _sent_history(body)
        digests = _history_digests(request.path, history)
        for length in range(len(history) - 1, 0, -1):
            turns = self._turns.get(digests[length], [])
            if turns and any(form.is_answer(history[length]) for form in _FORMS):
                return turns[0] if len(turns) == 1 else None
        return None

    def remember_request(self, request: Request, turn: ExchangePlace) -> None:
        """This exchange sent this history."""
        history = _sent_history(request.json)
        if history:
            digest = _history_digests(request.path, history)[-1]
            self._turns.setdefault(digest, []).append(turn)
            _forget_oldest(self._turns)

    def remember_answer(self, start: bytes, turn: ExchangePlace) -> None:
        """This exchange's body began like this: the id of a response is there, if anywhere."""
        for match in filter(None, (pattern.search(start) for pattern in _ANSWER_IDS)):
            self._answered[match[1].decode()] = turn
            _forget_oldest(self._answered)


def _sent_history(body: Any) -> list[Any]:
    found = [body.get(key) for key in HISTORIES] if isinstance(body, dict) else []
    for one in found:
        if isinstance(one, str):
            return [{"role": "user", "content": one}]
        if isinstance(one, list):
            return one
    return []


def _history_digests(path: str, history: list[Any]) -> list[bytes]:
    """For each length from 0, a digest of the history's first items."""
    running = hashlib.sha256(path.encode("utf-8", "surrogatepass"))
    digests = [running.digest()]
    for item in history:
        text = json.dumps(item, sort_keys=True, separators=(",", ":"))
        running.update(text.encode() + b"\n")
        digests.append(running.digest())
    return digests


def _forget_oldest(memory: OrderedDict[Any, Any]) -> None:
    if len(memory) > _MOST:
        memory.popitem(last=False)


_NUMBERED: Final = re.compile(r"(\d{4,9})-.*\.cassette\.jsonl")
_MOST_OPEN: Final = 128


class RecordingFolder:
    """Opens a cassette for each conversation, and finds the one that a request continues.

    Raises CassetteError where the folder cannot be made.
    """

    def __init__(
        self,
        folder: Path,
        options: RecordingOptions,
        *,
        tell: Callable[[str, ExchangeOutcome], None] | None = None,
        limit_time: LimitTime = unlimited_time,
    ) -> None:
        self._folder = folder
        self._limit_time = limit_time
        self._options = options
        self._tell = tell
        self._conversations = Conversations()
        self._files: OrderedDict[str, CassetteFile] = OrderedDict()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            names = [_NUMBERED.fullmatch(path.name) for path in folder.iterdir()]
        except OSError as err:
            reason = (err.strerror or str(err)).lower()
            raise CassetteError(f"cannot be written: {reason}", place=Place(str(folder))) from err
        self._highest = max((int(name[1]) for name in names if name), default=0)

    def begin_exchange(self, request: Request, came: float | None = None) -> ExchangeRecorder:
        """Records a request that `came` then, by `perf_counter`; default: now.

        Raises CassetteError, OSError where it cannot be written.
        """
        place = self._conversations.preceding_exchange(request)
        known = self._files.get(place.file) if place else None
        after = place.number if place and known else None
        file = known or self._new_file(request)
        try:
            return ExchangeRecorder(file, request, after=after, came=came)
        except BaseException:
            if known is None:  # nothing in it is readable
                self._drop_file(file)
            raise

    def record_rest(
        self,
        recorder: ExchangeRecorder,
        how: Ending,
        note: str = "",
        came: float | None = None,
    ) -> bool:
        """As `ExchangeRecorder.record_rest`; other requests may carry the exchange on from now."""
        needs_judging = recorder.record_rest(how, note, came)
        place = ExchangePlace(str(recorder.file.path), recorder.number)
        status = recorder.response.status if recorder.response else None
        if status is not None and status < 300:
            self._conversations.remember_request(recorder.request, place)
            self._conversations.remember_answer(recorder.start, place)
        return needs_judging

    def finish_exchange(
        self, recorder: ExchangeRecorder, *, judges: bool = True
    ) -> ExchangeOutcome:
        outcome = recorder.finish(judges=judges)
        if self._tell:
            self._tell(recorder.file.path.name, outcome)
        return outcome

    def close(self) -> None:
        """Every cassette is complete."""
        while self._files:
            self._files.popitem()[1].writer.close()

    def _new_file(self, request: Request) -> CassetteFile:
        while True:
            self._highest += 1
            path = self._folder / f"{self._highest:04}-{_file_label(request.path)}.cassette.jsonl"
            if not path.exists():
                break
        file = CassetteFile(path, self._options, request, via="proxy", limit_time=self._limit_time)
        self._files[str(path)] = file
        self._close_idle_files()
        return file

    def _drop_file(self, file: CassetteFile) -> None:
        del self._files[str(file.path)]
        file.writer.close()
        file.path.unlink(missing_ok=True)

    def _close_idle_files(self) -> None:
        if len(self._files) <= _MOST_OPEN:
            return
        # The file that was opened last has no exchange yet, but is about to.
        *others, _ = self._files.items()
        idle = [name for name, file in others if not file.running]
        for name in idle[: _MOST_OPEN // 4]:
            self._files.pop(name).writer.close()


def _file_label(path: str) -> str:
    dialect = dialect_at(path)
    if dialect is not None:
        return ENDPOINTS[dialect].api
    plain = path.split("?", maxsplit=1)[0].rstrip("/")
    last = re.sub(r"[^a-z0-9]+", "-", plain.rsplit("/", 1)[-1].lower()).strip("-")
    # Ids in paths are long; they do not belong in a name.
    return last if 0 < len(last) <= 20 else "other"
