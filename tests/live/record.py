"""Records real servers into cassettes: `python -m tests.live.record [SYSTEM ...]`.

The prompts and the model are this project's own. What one answer shows is asked for with
`conformance record`; what takes a scenario (an ending that was expected, a gateway between two
halves of the toolkit) is kept by `conformance run --save`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import pytest
from msgspec.structs import replace

from conformance.cassette import Cassette, Header, read, write
from conformance.core.events import Exchange, Request
from conformance.dialects import ENDPOINTS
from tests.live.processes import ROOT, TOOL, free_port
from tests.live.systems import MODEL, SCRIPTED, Live, mlx_lm, ogx, ogx_on_mlx, transformers_serve

SUM: Final = "What is 2 + 2?"
SUFFIX: Final = ".cassette.jsonl"
CHAT: Final = "openai.chat"
RESPONSES: Final = "openai.responses"
API: Final = {CHAT: "chat", RESPONSES: "responses"}
CONCISE: Final = {"effort": "low", "summary": "concise"}
Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class LiveRequest:
    """One cassette of `conformance record`: bodies by role."""

    dialect: str
    name: str
    bodies: Mapping[str, Body]


@dataclass(frozen=True, slots=True)
class Kept:
    """One cassette of a run: what came of a scenario."""

    dialect: str
    name: str
    scenario: str


@dataclass(frozen=True, slots=True)
class Session:
    """A server, started once, and what is recorded of it."""

    system: str  # as its folder of cassettes is called
    target: tuple[str, str]  # name and version
    start: Callable[[Path], AbstractContextManager[Live]]
    asked: tuple[LiveRequest, ...] = ()
    kept: tuple[Kept, ...] = ()
    upstream: int = 0  # port on which the toolkit plays the server behind a gateway


def mlx() -> Iterator[Session]:
    """Chat Completions alone."""
    cut = {"stream": {**_chat(stream=True)["stream"], "max_tokens": 12}}
    asked = (LiveRequest(CHAT, "live-think", _both(_chat)), LiveRequest(CHAT, "live-cut", cut))
    yield Session("mlx-lm", ("mlx-lm", "0.32.2"), mlx_lm, asked)


def transformers() -> Iterator[Session]:
    """The model as it is, then with markers that are special tokens."""
    target = ("transformers-serve", "5.23.0")
    asked = (
        LiveRequest(CHAT, "live-think", _both(_chat)),
        LiveRequest(CHAT, "live-refused", {"wrong": {"messages": 5, "stream": True}}),
        LiveRequest(RESPONSES, "live-think", _both(_responses)),
        LiveRequest(RESPONSES, "live-refused", {"wrong": {"input": 5, "stream": True}}),
    )
    kept = (Kept(RESPONSES, "live-cut", "length"), Kept(RESPONSES, "live-tools", "two-tools"))
    yield Session("transformers-serve", target, transformers_serve, asked, kept)
    # All its thinking is text, so none is asked for: such a recording would contradict itself.
    unasked = {**_responses(stream=True)["stream"], "reasoning": None}
    marked = (
        LiveRequest(CHAT, "live-bracket", _chat(stream=True)),
        LiveRequest(RESPONSES, "live-bracket", {"stream": unasked}),
    )
    yield Session("transformers-serve", target, _bracketed, marked)


def ogx_twice() -> Iterator[Session]:
    """In front of mlx-lm, then between two halves of the toolkit."""
    summary = {**_responses(stream=True)["stream"], "reasoning": CONCISE}
    asked = (
        LiveRequest(RESPONSES, "live-think", _both(_responses)),
        LiveRequest(RESPONSES, "live-summary", {"summary": summary}),
    )
    yield Session("ogx", ("ogx-on-mlx-lm", "1.5.0"), ogx_on_mlx, asked)
    port = free_port()
    names = ("gateway-faults", "gateway-tools")
    kept = tuple(Kept(RESPONSES, f"live-{name}", name) for name in names)
    yield Session("ogx", ("ogx-on-script", "1.5.0"), _scripted(port), (), kept, port)


SYSTEMS: Final[Mapping[str, Callable[[], Iterator[Session]]]] = {
    "mlx-lm": mlx,
    "transformers-serve": transformers,
    "ogx": ogx_twice,
}


def _both(bodies: Callable[..., Mapping[str, Body]]) -> Mapping[str, Body]:
    return {**bodies(stream=True), **bodies(stream=False)}


def _chat(*, stream: bool) -> dict[str, Body]:
    body = {"messages": [{"role": "user", "content": SUM}], "max_tokens": 256, "temperature": 0}
    if not stream:
        return {"body": {**body, "stream": False}}
    return {"stream": {**body, "stream": True, "stream_options": {"include_usage": True}}}


def _responses(*, stream: bool) -> dict[str, Body]:
    body = {"input": SUM, "reasoning": {"effort": "low"}, "max_output_tokens": 256}
    return {"stream" if stream else "body": {**body, "temperature": 0, "stream": stream}}


def _bracketed(work: Path) -> AbstractContextManager[Live]:
    return transformers_serve(work, "bracket")


def _scripted(port: int) -> Callable[[Path], AbstractContextManager[Live]]:
    return lambda work: ogx(work, f"http://127.0.0.1:{port}", SCRIPTED)


def record(session: Session, folder: Path) -> Iterator[Path]:
    """Writes the cassettes of a session below `folder`."""
    with TemporaryDirectory(prefix="conformance-") as place:
        work = Path(place)
        with session.start(work) as live:
            for each in session.asked:
                cassette = _ask(live, each, work)
                yield _stamped(cassette, session, each.dialect, each.name, folder)
            for kept in session.kept:
                cassette = _run(live, kept, session, work)
                yield _stamped(cassette, session, kept.dialect, kept.name, folder)


def _ask(live: Live, asked: LiveRequest, work: Path) -> Cassette:
    """What `conformance record` wrote, with the scenario and the roles that it was not told."""
    requests, taken = work / f"asked{SUFFIX}", work / f"taken{SUFFIX}"
    path = ENDPOINTS[asked.dialect].path
    wanted = (
        Exchange(number=at, request=Request(path=path, json=_of(live, body)))
        for at, body in enumerate(asked.bodies.values(), 1)
    )
    write(requests, Cassette(Header(dialect=asked.dialect), tuple(wanted)))
    where = ("--url", f"{live.url}/v1", "--request", str(requests))
    _program(*TOOL, "record", *where, "-o", str(taken), "--force")
    cassette, scenario = read(taken), asked.name.removeprefix("live-")
    named = (
        replace(exchange, scenario=scenario, role=role)
        for exchange, role in zip(cassette.exchanges, asked.bodies, strict=True)
    )
    return replace(cassette, exchanges=tuple(named))


def _of(live: Live, body: Body) -> Body:
    return {"model": live.model, **body}


def _run(live: Live, kept: Kept, session: Session, work: Path) -> Cassette:
    """What a run of one scenario kept."""
    saved = work / kept.name
    target = ("--gateway", live.url, "--upstream-port", str(session.upstream))
    where = target if session.upstream else ("--url", live.url)
    what = ("--api", API[kept.dialect], "--scenario", kept.scenario, "--profile", session.system)
    command = (*TOOL, "run", *where, "--model", live.model, *what, "--save", str(saved))
    _program(*command, codes=(0, 1))
    return read(saved / kept.dialect / f"{kept.scenario}{SUFFIX}")


def _stamped(cassette: Cassette, session: Session, dialect: str, name: str, folder: Path) -> Path:
    """Says whose recording it is, and writes it."""
    called, version = session.target
    header = replace(
        cassette.header,
        profile=session.system,
        target={"name": called, "version": version},
        model={"name": MODEL},
        licence="Apache-2.0",
    )
    path = folder / dialect / session.system / f"{name}{SUFFIX}"
    path.parent.mkdir(parents=True, exist_ok=True)
    write(path, replace(cassette, header=header), seal=True)
    return path


def _program(*command: str, codes: Sequence[int] = (0,)) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode not in codes:
        raise RuntimeError(f"exit code {done.returncode}: {done.stderr[-2000:]}")


def main(given: Sequence[str] | None = None) -> None:
    """Record systems, all of them unless named."""
    names = ", ".join(SYSTEMS)
    parser = argparse.ArgumentParser(prog="python -m tests.live.record", description=__doc__)
    parser.add_argument("systems", nargs="*", default=list(SYSTEMS), metavar="SYSTEM", help=names)
    parser.add_argument("--out", type=Path, default=ROOT / "cassettes", metavar="FOLDER")
    arguments = parser.parse_args(given)
    try:
        for system in arguments.systems:
            for session in SYSTEMS[system]():
                for path in record(session, arguments.out):
                    sys.stdout.write(f"{path}\n")
                    sys.stdout.flush()
    except pytest.skip.Exception as missing:
        sys.exit(f"error: {missing}")


if __name__ == "__main__":
    main()
