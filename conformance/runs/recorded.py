"""Recordings as the upstream of a gateway: each exchange is a step, its answer sent as recorded.

In the recording's own API the gateway gets the request of the recording's client; in another API it
gets one for the same kind of answer: a stream or a body, with thinking, a summary and tools alike.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from conformance.cassette import Recording, open_recording
from conformance.core.errors import Place, UsageError
from conformance.core.events import Exchange
from conformance.core.shipped import cassettes
from conformance.dialects import CALLABLE_APPLICATIONS, ENDPOINTS, get, required
from conformance.dialects.requests import OPT_IN, Question, Tool
from conformance.judging.rulebook import Rulebook
from conformance.judging.transcript import Transcript, read_transcript
from conformance.profiles.profile import reading
from conformance.recordings.check import check_recording, recording_files
from conformance.recordings.choices import CheckChoices, choose_dialect, choose_profile
from conformance.rules.verdicts import Level
from conformance.scenarios import Scenario, Step
from conformance.targets.played_answers import RecordedUpstream

SUFFIX: Final = ".cassette.jsonl"
_ASK: Final = "Say again what was recorded."
_BROKEN: Final = frozenset({"refused", "failed", "cut"})
_NO_WORD: Final = re.compile(r"[^a-z0-9]+")
_LONGEST: Final = 48
_LIMIT: Final = 4096  # tokens
_OF_RUNS: Final = "scenario/"  # what another run expected


def recorded_scenarios(
    paths: Sequence[Path], rulebook: Rulebook, folders: tuple[Path, ...] = ()
) -> tuple[Scenario, ...]:
    """A scenario for each recording among files and below folders.

    Raises UsageError where none holds an answer, CassetteError for what cannot be read.
    """
    choices = CheckChoices(folders=folders)
    met: Counter[str] = Counter()
    found: list[Scenario] = []
    for path in recording_files(paths):
        recording = open_recording(path)
        steps = tuple(_recorded_steps(recording, rulebook, choices))
        if steps:
            name = _recording_name(path)
            met[name] += 1
            name = name if met[name] == 1 else f"{name}-{met[name]}"
            title = f"{path} as upstream of the gateway"
            profile = recording.header.profile or ""
            found.append(Scenario(name, title, steps, str(path), profile=profile))
    if not found:
        raise UsageError("no recorded answer to serve", place=Place(str(paths[0])))
    return tuple(found)


def recorded_calls(behind: Mapping[str, Sequence[str]]) -> dict[str, tuple[Exchange, ...]]:
    """The exchanges of shipped cassettes, by dialect; `behind` names them below its folder."""
    return {
        dialect: tuple(
            replace(each, dialect=dialect)
            for name in names
            for each in open_recording(cassettes() / dialect / f"{name}{SUFFIX}").exchanges
        )
        for dialect, names in behind.items()
    }


def _recording_name(path: Path) -> str:
    stem = _NO_WORD.sub("-", path.name.partition(".")[0].lower()).strip("-")
    return stem[:_LONGEST] or "recording"


def _recorded_steps(
    recording: Recording, rulebook: Rulebook, choices: CheckChoices
) -> Iterator[Step]:
    broken: dict[int, dict[str, Level]] = {}
    for result in check_recording(recording, rulebook, choices) if recording.exchanges else ():
        found = {f.rule: f.level for f in result.findings if not f.rule.startswith(_OF_RUNS)}
        broken.setdefault(result.exchange, {}).update(found)
    for exchange in recording.exchanges:
        request = exchange.request
        if exchange.hop == "downstream" or (request and request.method != "POST"):
            continue
        if exchange.chunks:
            step = _recorded_step(recording, exchange, choices)
            rules = broken[exchange.number]
            binding = tuple(sorted(r for r, level in rules.items() if level is Level.MUST))
            yield replace(step, excused=tuple(sorted(rules)), broken=binding)


def _recorded_step(recording: Recording, exchange: Exchange, choices: CheckChoices) -> Step:
    dialect = choose_dialect(exchange, exchange.dialect or recording.header.dialect)
    profile, _ = choose_profile(dialect, choices, recording.header.profile)
    answer = read_transcript(exchange, dialect, reading(profile))
    came = answer.ending
    spoken = replace(exchange, dialect=dialect.name)
    return Step(
        role=f"exchange-{exchange.number}",
        bodies={
            api: _request_body(api, spoken, answer)
            for api in (*ENDPOINTS, *CALLABLE_APPLICATIONS)
            if api == dialect.name or answer.choices <= 1  # only one API has several
        },
        place=Place(str(recording.path)),
        ends=tuple(sorted(_BROKEN)) if came in _BROKEN else (came,),
        headers=_opt_in(spoken, answer),
        recorded=spoken,
        asks=_ASK,
        # Who asks again may have better luck, and who writes summaries himself asks for one.
        calls=None if came in _BROKEN or answer.summary else 1,
    )


def _opt_in(exchange: Exchange, answer: Transcript) -> dict[str, str]:
    """The wish to see thinking, as the client had it; else where there is some to be seen."""
    form = get(exchange.dialect or "").request
    if exchange.request is not None and form is not None and form.opts_in_by_header:
        sent = {name.lower(): value for name, value in exchange.request.headers}
        return {OPT_IN: sent[OPT_IN]} if OPT_IN in sent else {}
    return {OPT_IN: "true"} if answer.thought else {}


def _request_body(api: str, exchange: Exchange, answer: Transcript) -> Mapping[str, Any]:
    request = get(api).stated(exchange.request) if api == exchange.dialect else None
    if request is not None and isinstance(request.json, dict) and request.json:
        return request.json
    streams = RecordedUpstream(exchange).streams
    names = (each.get("name") for each in answer.tools)
    question = Question(
        text=_ASK,
        limit=_LIMIT,
        streams=streams,
        thinks=answer.thought,
        summarises=bool(answer.summary),
        tools=tuple(map(Tool, dict.fromkeys(n for n in names if isinstance(n, str) and n))),
    )
    form = required(get(api).request, api, "request bodies")
    return (
        form.ask(question)
        if api in CALLABLE_APPLICATIONS
        else {"stream": streams, **form.ask(question)}
    )
