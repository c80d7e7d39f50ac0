"""Cases as JSON, for teams that test a client without Python: bytes in, events out.

A file holds one recorded exchange in every way of replaying it. `expected` are the events that a
client should report, adjacent deltas joined; `permitted` is what it may do differently.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from conformance.cassette import Recording
from conformance.core.errors import Place, UsageError
from conformance.core.events import Exchange
from conformance.dialects import SUPPORTED
from conformance.dialects.base import Dialect
from conformance.dialects.recognition import recognised_dialect
from conformance.judging.transcript import read_transcript
from conformance.profiles.profile import Profile, reading
from conformance.recordings.choices import CheckChoices, choose_dialect, choose_profile
from conformance.report.files import write_whole
from conformance.rules.forms.gathered_side import MERGED_FIELDS
from conformance.targets.client.conversation import case_conversation
from conformance.targets.client.variation import ReplayVariation, replay_variations
from conformance.targets.replay.tape import recording_stem

VERSION: Final = "1.0"
_COMPARED: Final = frozenset(
    {
        *("thinking.delta", "thinking.part", "thinking.opaque", "text.delta", "refusal.delta"),
        *("tool.end", "finish", "error"),
    }
)
_ENDS: Final[Mapping[str, tuple[str, ...]]] = {
    "completed": ("completed",),
    "broken": ("failed", "cut"),
    "either": ("completed", "failed", "cut"),
}


def write_vectors(recording: Recording, folder: Path, *, profile: str | None = None) -> list[Path]:
    """Writes a file per exchange; their paths. Raises UsageError where nothing can be written."""
    made: list[Path] = []
    for exchange in recording.exchanges:
        if (vector := exchange_vectors(recording, exchange, profile=profile)) is None:
            continue
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{recording_stem(recording.path)}-{exchange.number}.vectors.json"
        text = json.dumps(vector, ensure_ascii=False, indent=1)
        # A lone surrogate of a recording is spelled as JSON does.
        write_whole(path, f"{text}\n".encode("utf-8", "backslashreplace"))
        made.append(path)
    if not made:
        raise UsageError("holds no answer to a client", place=Place(str(recording.path)))
    return made


def exchange_vectors(
    recording: Recording, exchange: Exchange, *, profile: str | None = None
) -> dict[str, Any] | None:
    """One exchange with all its cases; None for what is no answer to a client."""
    request = exchange.request
    stated = exchange.dialect or recording.header.dialect or recognised_dialect(exchange)
    if exchange.hop == "upstream" or stated not in SUPPORTED:
        return None
    if request is not None and request.method != "POST":
        return None
    dialect = choose_dialect(exchange, stated)
    chosen, _ = choose_profile(dialect, CheckChoices(profile=profile), recording.header.profile)
    return {
        "vectors": VERSION,
        "dialect": dialect.name,
        "profile": chosen.name,
        "status": (exchange.response.status if exchange.response else None) or 200,
        "headers": [list(pair) for pair in exchange.response.headers] if exchange.response else [],
        "asked": case_conversation(exchange, chosen),
        "cases": list(_vector_cases(exchange, dialect, chosen)),
    }


def _vector_cases(
    exchange: Exchange, dialect: Dialect, profile: Profile
) -> Iterator[dict[str, Any]]:
    for variation in replay_variations(exchange, dialect.name, "full", edited=True):
        if variation.kind != "reset":  # that is no matter of bytes
            yield _vector_case(variation, dialect, profile)


def _vector_case(variation: ReplayVariation, dialect: Dialect, profile: Profile) -> dict[str, Any]:
    made = variation.sent_exchange()
    sent = read_transcript(made, dialect, reading(profile), keep="semantic")
    # Events that need not be reported.
    gaps = [] if sent.client_end == "completed" and sent.tools == sent.own_tools else ["tool.end"]
    return {
        "name": variation.name,
        "chunks": [b64encode(chunk.data).decode() for chunk in made.chunks],
        "end": made.end,
        "expected": joined_events(sent.client_events),
        "permitted": {"ends": list(_ENDS[sent.client_end]), "without": gaps},
    }


def joined_events(events: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The events that are compared, with the fields that are, adjacent deltas as one."""
    made: list[dict[str, Any]] = []
    for event in events:
        if event["type"] not in _COMPARED:
            continue
        kept = {"type": event["type"], **{k: event[k] for k in MERGED_FIELDS if k in event}}
        text = kept.get("text")
        if text is not None and made and kept == {**made[-1], "text": text}:
            made[-1]["text"] += text
        else:
            made.append(kept)
    return made
