"""One exchange while it passes: what came of it, what it says, and what was found in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Final

from msgspec.structs import replace

from conformance.cassette import Redactor
from conformance.cassette.redaction.redact import REDACTED
from conformance.core.chunked import ChunkedBodyReader, PlainBodyReader
from conformance.core.content_coding import ContentDecoder, UndecodableError, readable_codings
from conformance.core.errors import CassetteError
from conformance.core.events import Chunk, Ending, Exchange, Request
from conformance.core.excerpts import now_about
from conformance.dialects import stated_request
from conformance.judging.result import Finding, StreamResult
from conformance.judging.stream_check import StreamCheck
from conformance.recordings.redacted_result import Clean, redact_finding, redact_result
from conformance.targets.recording.exchange import decoded_head
from conformance.targets.recording.messages import (
    BodyCame,
    ExchangeEnded,
    HeadCame,
    PartCame,
    RequestCame,
)
from conformance.watching.conversations import TalkPlace, TrafficConversations
from conformance.watching.judging import TrafficJudge
from conformance.watching.lanes import LaneTails
from conformance.wire.requests import as_recorded

OfExchange = HeadCame | BodyCame | PartCame | ExchangeEnded  # what comes after a request

MOST_KEPT: Final = 16 * 1024 * 1024  # bytes of one body
_CHUNK_COST: Final = 160  # bytes that a chunk takes in addition to its data
_MOST_UNKNOWN: Final = 64 * 1024  # bytes in which a dialect must show
_LEAST_REFUSAL: Final = 300  # no answer to the request: judged, if at all, when it is over
_BUDGET_MS: Final = 30_000.0  # of judging one stream; it holds up what is shown, not what passes


class WatchedExchange:
    """Takes one exchange, message by message.

    `findings` are those so far, and when it is over those of `result`, which is None where nothing
    was judged; both are without secrets. `note` says what was not judged or not kept, and why.
    `clean` takes secrets out of any other text that is shown, such as what `lanes` hold.
    """

    def __init__(
        self, came: RequestCame, judge: TrafficJudge, conversations: TrafficConversations
    ) -> None:
        self.number = came.number
        self.came = self.last = came.came
        self.method, self.target = came.request.method, came.target
        self.head_at: float | None = None
        self.response = came.head
        self.end: Ending | None = None
        self.note = ""
        self.size = 0
        self.lanes = LaneTails()
        self.findings: list[Finding] = []
        self.result: StreamResult | None = None
        self._judge = judge
        self._conversations = conversations
        self._of_history: list[Finding] = []
        self._request = came.request  # as it came: what it is decoded to takes far more memory
        recorded = as_recorded(came.request, came.target)
        self.clean = _text_cleaner(recorded)
        body = stated_request(recorded).json
        self.model = str(body.get("model") or "") if isinstance(body, dict) else ""
        self._short_request = replace(recorded, json={"model": self.model}, text=None, base64=None)
        self._kept: list[Chunk] | None = []
        self.kept_bytes = len(came.request.body)
        self._body: ChunkedBodyReader | PlainBodyReader = PlainBodyReader(None)
        self._decoder: ContentDecoder | None = None
        self._stream: StreamCheck | None = None
        # On a WebSocket a message asks, after the head of the upgrade.
        self._is_judged = self.method == "POST" or bool(came.request.body)
        self._try_at = 0  # bytes at which it is looked at again which dialect it speaks

    @property
    def is_over(self) -> bool:
        return self.end is not None

    @property
    def is_refusal(self) -> bool:
        """Whether the status says that no answer comes."""
        return self.response is not None and (self.response.status or 0) >= _LEAST_REFUSAL

    @property
    def place(self) -> TalkPlace | None:
        """Where it is in a conversation; None where nothing shows that there is one."""
        return self._conversations.places.get(self.number)

    @property
    def is_kept(self) -> bool:
        """Whether all that came is still there."""
        return self._kept is not None

    @property
    def elapsed_ms(self) -> float:
        """From the request to what came last."""
        return (self.last - self.came) * 1000

    def recorded(self) -> Exchange:
        """The exchange as far as it came and was kept."""
        return Exchange(
            request=as_recorded(self._request, self.target),
            response=self.response,
            chunks=tuple(self._kept or ()),
            end=self.end or "open",
        )

    def stop_keeping(self, why: str) -> None:
        """Drops the bytes; what is under way is judged all the same."""
        if self._kept is not None:
            self._kept = None
            self.kept_bytes = 0
            self.note = why

    @property
    def request_came(self) -> RequestCame:
        """The message that began it."""
        return RequestCame(self.number, self.came, self.target, self._request)

    def take(self, message: OfExchange) -> Sequence[Finding]:
        before, self.last = self.last, message.came
        if isinstance(message, HeadCame):
            self._take_head(message)
            return ()
        if isinstance(message, ExchangeEnded):
            return self._take_end(message)
        if isinstance(message, PartCame):
            self.size += len(message.part.data)
            return ()
        found: list[Finding] = []
        for part in self._body.feed(message.data):
            data = self._decoded_bytes(part.data)
            if data:
                found += self._take_chunk(Chunk(data, round((message.came - before) * 1000, 3)))
                before = message.came
        return found

    def take_history(self) -> Sequence[Finding]:
        """The findings in what the request brings back of answers that came before."""
        if not self._is_judged:
            return ()
        found = self._link_with(self._conversations.take_request)
        self.findings += found
        return found

    def catch_up(self) -> Sequence[Finding]:
        """Judges what waits for more that is alike."""
        return () if self._stream is None else self._add_findings(self._stream.catch_up())

    def _take_head(self, message: HeadCame) -> None:
        self.head_at = message.came
        self.response = message.response
        if message.chunked:
            self._body = ChunkedBodyReader()
        encoding = (message.response.header("content-encoding") or "").strip().lower()
        if encoding in ("", "identity"):
            return
        if encoding in readable_codings():
            self._decoder = ContentDecoder(encoding, MOST_KEPT)
            self.response = decoded_head(message.response, encoding)
        else:
            self._is_judged = False
            self.note = f"not judged: a body in {encoding!r}"

    def _decoded_bytes(self, data: bytes) -> bytes:
        self.size += len(data)
        if self._decoder is None or not data:
            return data
        try:
            return self._decoder.feed(data)
        except UndecodableError as err:
            self._is_judged, self._stream = False, None
            self.note = f"not judged: {err}"
            return b""

    def _take_chunk(self, chunk: Chunk) -> Sequence[Finding]:
        if self._kept is not None:
            self._kept.append(chunk)
            self.kept_bytes += len(chunk.data) + _CHUNK_COST
            if self.kept_bytes > MOST_KEPT:
                self.stop_keeping("too long to be kept: no timeline")
        if not self._is_judged or self.is_refusal:
            return ()
        self.lanes.ms = (self.last - (self.head_at or self.last)) * 1000
        if self._stream is not None:
            return self._feed_chunks([chunk])
        if self.size < self._try_at or self.size > _MOST_UNKNOWN:
            return ()
        self._try_at = 2 * self.size
        self._stream = self._begin_stream()
        return () if self._stream is None else self._feed_chunks(self._kept or [chunk])

    def _begin_stream(self) -> StreamCheck | None:
        so_far = self.recorded()
        dialect = self._judge.dialect_of(so_far)
        if dialect is None:
            return None
        return self._judge.checker(dialect).stream(
            request=so_far.request,
            response=self.response,
            budget_ms=_BUDGET_MS,
            listener=self.lanes.take,
        )

    def _feed_chunks(self, chunks: Sequence[Chunk]) -> Sequence[Finding]:
        assert self._stream is not None
        stream = self._stream
        now_about(self._short_request)
        return self._add_findings(f for chunk in chunks for f in stream.feed(chunk.data, chunk.ms))

    def _add_findings(self, found: Iterable[Finding]) -> Sequence[Finding]:
        new = [each for each in found if not self._conversations.is_repeated(self.number, each)]
        clean = [redact_finding(each, self.clean) for each in new]
        self.findings += clean
        return clean

    def _take_end(self, message: ExchangeEnded) -> Sequence[Finding]:
        """The findings that are not shown yet."""
        now_about(self._short_request)
        self.end = message.how
        self.note = message.lost or message.note or self.note
        live = None if self._stream is None else self._stream.close(message.how)
        self._stream = None
        shown = set(map(_finding_place, self.findings))
        if live is not None or (self._is_judged and self._kept):
            whole = self._judge.whole_result(self.recorded()) if self.is_kept else None
            self._link_answer()
            result = self._conversations.written(self.number, whole or live)
            self.result = result and redact_result(result, self.clean)
        else:
            self._conversations.drop(self.number)
        self.findings = list(self.result.findings if self.result else self._of_history)
        return [each for each in self.findings if _finding_place(each) not in shown]

    def _link_answer(self) -> None:
        """The answer may come back; what its request brings back may only show now."""
        if self.is_kept:
            self._link_with(self._conversations.take_answer)
        else:
            self._conversations.drop_answer(self.number)

    def _link_with(self, take: Callable[[Exchange], Sequence[Finding]]) -> Sequence[Finding]:
        try:
            found = take(replace(self.recorded(), number=self.number))
        except Exception as err:  # noqa: BLE001  # whatever a history holds, the answer is judged
            self._conversations.drop(self.number)
            self.note = f"not linked with others: {type(err).__name__}: {err}"
            return ()
        clean = [redact_finding(each, self.clean) for each in found]
        self._of_history += clean
        return clean


def _text_cleaner(request: Request) -> Clean:
    """Takes out what has the shape of a secret, and what the request sent as one."""
    redactor = Redactor(opaque=False)
    try:
        redactor.learn_request(request)
    except CassetteError:  # more secrets than are remembered: no text is shown
        return lambda text: text and REDACTED
    return lru_cache(maxsize=64)(redactor.text)  # a screen draws the same texts again and again


def _finding_place(finding: Finding) -> tuple[object, ...]:
    return finding.rule, finding.event, *finding.slice.items()
