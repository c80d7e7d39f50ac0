"""Shipped recordings as templates: frames that stay, and runs of deltas of one text.

Of a cassette, the streams that a server sent by itself and in which nothing is found. Bodies are
left out, and so are streams whose texts hold marks that would have to stay where they are.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from conformance.cassette import discover, open_recording
from conformance.core.events import Exchange
from conformance.dialects.recognition import recognised_dialect

ROOT: Final = Path(__file__).resolve().parents[2]
LEAST_FRAMES: Final = 5  # fewer are no stream to draw from
# Of cassettes: what no server sent by itself, and systems whose streams hold findings.
LEFT_OUT: Final = frozenset(
    {
        *("allowed", "client", "permits", "reference-client", "never-sends-back"),
        *("ogx", "transformers-serve"),
    }
)


Place = tuple[object, ...]  # which of the texts of a stream a delta belongs to


@dataclass(frozen=True, slots=True)
class TemplateFrame:
    """A frame of a recording: its JSON between the bytes before and behind it."""

    before: str
    payload: Any  # None where it holds no JSON object: a comment, [DONE]
    behind: str
    place: Place | None = None  # of the one text that it brings
    shape: object = None

    def encoded(self, payload: Any) -> str:
        if payload is None:
            return self.before
        data = json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
        return f"{self.before}{data}{self.behind}"


@dataclass(frozen=True, slots=True)
class Template:
    """A shipped recording of one stream, cut into what stays and runs of deltas."""

    dialect: str
    profile: str | None
    runs: tuple[tuple[TemplateFrame, ...], ...]  # alike deltas of one text, or one frame
    exchange: Exchange

    @property
    def least(self) -> int:
        """Frames that a stream of this shape has at least."""
        return len(self.runs)

    @property
    def grows(self) -> bool:
        return any(len(run) > 1 for run in self.runs)


def texts_of(dialect: str, payload: Any) -> list[tuple[Place, dict[str, Any], str]]:
    """Where an event brings text: which of the texts, the object and the key that hold it."""
    if dialect == "openai.responses":
        if str(payload.get("type")).endswith("text.delta"):
            place = ("type", "output_index", "content_index", "summary_index")
            return [(tuple(payload.get(name) for name in place), payload, "delta")]
        return []
    found: list[tuple[Place, dict[str, Any], str]] = []
    if dialect == "openai.chat":
        for choice in payload.get("choices") or ():
            delta = choice.get("delta") or {}
            names = ("content", "reasoning_content", "reasoning")
            found += [((choice.get("index"), name), delta, name) for name in names]
    elif dialect == "anthropic.messages":
        delta = payload.get("delta") or {}
        found += [((payload.get("index"), name), delta, name) for name in ("thinking", "text")]
    else:
        message = payload.get("message") or {}
        found += [((name,), message, name) for name in ("thinking", "content")]
    return [each for each in found if isinstance(each[1].get(each[2]), str) and each[1][each[2]]]


def _shape(value: Any) -> object:
    """Keys and types."""
    if isinstance(value, dict):
        return tuple((key, _shape(each)) for key, each in value.items())
    if isinstance(value, list):
        return tuple(map(_shape, value))
    return type(value)


def _template_frame(dialect: str, raw: str) -> TemplateFrame:
    begin, end = raw.find("{"), raw.rfind("}") + 1
    try:
        payload = json.loads(raw[begin:end]) if 0 <= begin < end else None
    except ValueError:
        payload = None
    if not isinstance(payload, dict):
        return TemplateFrame(raw, None, "")
    texts = texts_of(dialect, payload)
    place = texts[0][0] if len(texts) == 1 else None
    return TemplateFrame(raw[:begin], payload, raw[end:], place, (place, _shape(payload)))


def _runs(frames: Sequence[TemplateFrame]) -> Iterator[tuple[TemplateFrame, ...]]:
    run: list[TemplateFrame] = []
    for frame in frames:
        if run and (frame.place is None or frame.shape != run[-1].shape):
            yield tuple(run)
            run = []
        run.append(frame)
    yield tuple(run)


def _template(exchange: Exchange, profile: str | None) -> Template | None:
    """None where the exchange is no stream that conforms by its bytes alone."""
    dialect = recognised_dialect(exchange)
    if dialect is None or exchange.seen is not None or exchange.end != "eof":
        return None
    text = exchange.body.decode("utf-8", errors="replace")
    ends = "\n" if dialect == "ollama.chat" else "\n\n"
    frames = [_template_frame(dialect, raw + ends) for raw in text.split(ends) if raw]
    if len(frames) < LEAST_FRAMES or "<" in text or "\r" in text:
        return None  # a body, or a stream whose texts hold marks that must stay
    if exchange.request and '"concise"' in json.dumps(exchange.request.json):
        return None  # it shall stay short
    return Template(dialect, profile, tuple(_runs(frames)), exchange)


@cache
def templates(dialect: str) -> tuple[Template, ...]:
    """The shipped streams of a dialect that somebody's server sent."""
    found = []
    for path in discover(ROOT / "cassettes" / dialect):
        if path.parent.name not in LEFT_OUT:
            recording = open_recording(path)
            made = (_template(each, recording.header.profile) for each in recording.exchanges)
            found += [each for each in made if each and not recording.header.expect]
    return tuple(each for each in found if each.dialect == dialect)
