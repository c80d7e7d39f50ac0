"""Fuzzing of readers: `python -m tests.fuzz.readers KIND [--minutes M] [--runs N] [--seed S]`.

Files and messages that are nearly right are edited at random and read. A reader may refuse what
it gets, by the error that it documents; any other exception, and one that takes too long, ends the
run with its seed. Kinds are `cassettes`, `vcr`, `rules` (also profiles and scenarios), `http`
(requests, responses and encoded bodies), `settings` (conformance.yaml, baselines, mappings of
columns), `rows` and `parquet` (corpora, whose rows are judged), `answers` (lines of adapters),
`bodies` (of dialects that are no event streams: binary messages, lines, texts), and each importer
by its name (files of other programs, which are judged, too). `every` stands for one after the
other.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Final

from conformance.cassette import open_recording
from conformance.core.errors import CassetteError, HarnessError, SpecError, UsageError
from conformance.core.shipped import cassettes
from conformance.core.unexpected import UnexpectedError
from conformance.judging.suites import dialect_vocabulary
from conformance.profiles.load import load_profile
from conformance.rules.document import parse
from conformance.rules.lint import Known, lint_suite
from conformance.rules.load import read_suite
from conformance.scenarios.load import load_scenario
from conformance.wire.requests import RequestRejected
from tests.fuzz.http_messages import MESSAGES, read_message
from tests.fuzz.kept_files import IMPORTED, kept_files, read_kept_file
from tests.fuzz.settings import SETTINGS, read_settings
from tests.fuzz.spoken import answer_sources, body_sources, read_answer, read_body
from tests.fuzz.stored_rows import parquet_sources, read_rows, row_sources
from tests.fuzz.streams import OvertimeError, limited

SECONDS: Final = 10  # of processor time for one file
LARGEST: Final = 60_000  # bytes of a file that is edited
SPECS: Final = Path(__file__).parents[2] / "specs"
_VALUES: Final = (
    b'null|true|-1|1e999|0x1F|[]|{}|""|\'|~|.nan|2026-01-01|\xff|\x00|\xef\xbb\xbf|\\ud800'
)
_JSON: Final = b'{|}|[|]|,|:|"|\\|"ms":|"text":|"hex":"0|"end":"eof"|"exchange":9|"request":null'
_YAML: Final = (
    b"- |: |? ||>|&a |*a|!!binary |!!python/object:os.system |%YAML 9|---\n|...\n|{|}|[|]|#|\t|<<: "
)
_HTTP: Final = (
    b": |\r\n|\r\n\r\n|content-length: 5\r\n|transfer-encoding: chunked\r\n|0\r\n\r\n|fffffffff\r\n"
    b"|HTTP/1.1|HTTP/0.9|HTTP/1.1 100 C\r\n\r\n|expect: 100-continue\r\n|connection: close\r\n|;x=y"
    b"|content-length: -1\r\n|99999999999999999999|content-encoding: br\r\n| |\t|GET / HTTP/1.1\r\n"
)
_MARKS: Final = (
    b"<|channel|>|<|message|>|<|end|>|<|call|>|analysis|commentary|final|\n|\r\n|\x00\x00\x00\x10|"
    b'\xff\xff\xff\xff|:event-type|"jsonrpc":"2.0"|"id":1|"method":"session/update"|"result":{}'
)
_KEPT: Final = (
    b"[" * 400
    + b"|"
    + b'{"a":' * 400
    + b"|"
    + b"9" * 400
    + b"|-0.0|1e400|\\u0000|\xed\xa0\x80|"
    + b"%d" % 2**63
)
VCR: Final = b"""\
interactions:
- request:
    method: POST
    uri: https://api.example.com/v1/chat/completions?a=b
    body: '{"model": "m", "messages": [], "stream": true}'
    headers: {content-type: [application/json]}
  response:
    status: {code: 200, message: OK}
    headers:
      content-type: [text/event-stream]
      content-encoding: [identity]
    body:
      string: "data: {\\"choices\\":[]}\\n\\ndata: [DONE]\\n\\n"
- request: {method: GET, uri: 'http://h/v1/models', body: null, headers: {}}
  response: {status: {code: 500}, headers: {a: b}, body: {string: !!binary "eHg="}}
version: 1
"""


@dataclass(frozen=True, slots=True)
class ReaderTarget:
    """What is edited, what is put in, how it is read, and how a reader may refuse it."""

    sources: Callable[[], list[tuple[str, bytes]]]  # names and contents
    tokens: bytes  # between bars
    read: Callable[[str, bytes, Random, Path], None]
    refusals: tuple[type[Exception], ...]


def _files_below(folder: Path, pattern: str) -> list[tuple[str, bytes]]:
    found = [(path.name, path.read_bytes()) for path in sorted(folder.rglob(pattern))]
    return [(name, data) for name, data in found if 0 < len(data) <= LARGEST]


def _read_recording(name: str, data: bytes, _: Random, folder: Path) -> None:
    path = folder / name
    path.write_bytes(data)
    for exchange in open_recording(path).exchanges:
        assert len(exchange.body) >= 0


def _read_spec(_: str, data: bytes, __: Random, folder: Path) -> None:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    root = parse(text, "own.yaml")
    (folder / "own.yaml").write_text(text, encoding="utf-8")
    if text.startswith("suite"):
        lint_suite(read_suite(root, dialect_vocabulary), root, Known(dialect_vocabulary))
    elif text.startswith("profile"):
        load_profile(folder / "own.yaml")
    else:
        load_scenario(folder / "own.yaml")


TARGETS: Final = {
    "cassettes": ReaderTarget(
        lambda: _files_below(cassettes(), "*.cassette.jsonl"),
        _VALUES + b"|" + _JSON,
        _read_recording,
        (CassetteError,),
    ),
    "vcr": ReaderTarget(
        lambda: [
            ("a.yaml", VCR),
            ("b.yml", VCR.replace(b"string:", b"base64_string:")),
            *kept_files("vcr"),
        ],
        b"|".join((_VALUES, _YAML, _KEPT)),
        read_kept_file,
        (CassetteError,),
    ),
    "rules": ReaderTarget(
        lambda: _files_below(SPECS, "*.yaml"),
        _VALUES + b"|" + _YAML,
        _read_spec,
        (SpecError, UsageError),
    ),
    "http": ReaderTarget(
        lambda: list(MESSAGES), _VALUES + b"|" + _HTTP, read_message, (RequestRejected,)
    ),
    "settings": ReaderTarget(
        lambda: list(SETTINGS), _VALUES + b"|" + _YAML, read_settings, (SpecError, UsageError)
    ),
    "rows": ReaderTarget(row_sources, _VALUES + b"|" + _JSON, read_rows, (UsageError, SpecError)),
    "parquet": ReaderTarget(parquet_sources, _VALUES, read_rows, (UsageError, SpecError)),
    "answers": ReaderTarget(answer_sources, _VALUES + b"|" + _JSON, read_answer, (HarnessError,)),
    "bodies": ReaderTarget(body_sources, _VALUES + b"|" + _JSON + b"|" + _MARKS, read_body, ()),
    **{
        kind: ReaderTarget(
            partial(kept_files, kind),
            b"|".join((_VALUES, _JSON, _KEPT, _HTTP, _MARKS, _YAML)),
            read_kept_file,
            (CassetteError,),
        )
        for kind in IMPORTED
        if kind != "vcr"
    },
}
EVERY: Final = "every"


def edited(data: bytes, tokens: list[bytes], other: bytes, source: Random) -> bytes:
    """A few edits: bytes flipped, put in, taken out, repeated, cut off, or taken from elsewhere."""
    found = bytearray(data)
    for _ in range(source.choice((1, 1, 2, 3, 6, 12))):
        at = source.randrange(len(found) + 1)
        size = source.choice((1, 1, 3, 20, 300))
        match source.randrange(8):
            case 0 if at < len(found):
                found[at] ^= 1 << source.randrange(8)
            case 1:
                del found[at : at + size]
            case 2:
                found[at:at] = found[at : at + size] * source.choice((1, 2, 50))
            case 3 if source.random() < 0.2:
                del found[at:]
            case 4:
                begin = source.randrange(len(other))
                found[at:at] = other[begin : begin + size]
            case _:
                found[at : at + source.choice((0, 0, 1, 4))] = source.choice(tokens)
    return bytes(found)


def flaw_of(target: ReaderTarget, name: str, data: bytes, source: Random, folder: Path) -> str:
    """What is wrong with how it was read; empty where nothing is. `refused` is no flaw."""
    try:
        with limited(SECONDS):
            target.read(name, data, source, folder)
    except UnexpectedError:
        return traceback.format_exc()
    except target.refusals:
        return "refused"
    except (Exception, OvertimeError):  # noqa: BLE001  # whatever it is, it is what we look for
        return traceback.format_exc(limit=-4)
    return ""


def main(argv: list[str]) -> int:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("kind", choices=(*TARGETS, EVERY))
    asked.add_argument("--minutes", type=float, default=10.0)
    asked.add_argument("--runs", type=int, default=10**9)
    asked.add_argument("--seed", type=int, default=time.time_ns() % 10**9)
    given = asked.parse_args(argv)
    kinds = TARGETS if given.kind == EVERY else (given.kind,)
    return max(_fuzz(kind, given.minutes, given.runs, given.seed) for kind in kinds)


def _fuzz(kind: str, minutes: float, runs: int, first: int) -> int:
    """1 where a flaw was found, which ends the run of its kind."""
    target = TARGETS[kind]
    sources, tokens = target.sources(), target.tokens.split(b"|")
    until, counts = time.monotonic() + 60 * minutes, Counter[str]()
    seed = first
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + runs):
            source = Random(seed)
            name, data = source.choice(sources)
            data = edited(data, tokens, source.choice(sources)[1], source)
            flaw = flaw_of(target, name, data, source, Path(folder))
            counts["runs"] += 1
            counts[flaw[:7]] += flaw == "refused"
            if flaw and flaw != "refused":
                sys.stdout.write(f"{kind}, seed {seed}: {name}\n{flaw}\n{data[:2000]!r}\n")
                return 1
            if time.monotonic() > until:
                break
    sys.stdout.write(
        f"{kind}: {counts['runs']} runs, {counts['refused']} refused, no flaw; "
        f"go on with --seed {seed + 1}\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
