"""Corpora made of shipped recordings, with faults planted at known rates and known ids.

Stream `s000123` is always the same one: its recording, provider, model and time hang on its number
alone. Every `EVERY`-th is a published mutant, of which is known which rules it breaks.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

import conformance
from conformance.cassette import open_recording
from conformance.core import shipped

EVERY: Final = 50
DIALECTS: Final = ("openai.chat", "openai.responses", "anthropic.messages")
PROVIDERS: Final = ("north", "south", "east")
MOST_BROKEN: Final = 24
"""Mutants that faults are drawn from, each of a rule of its own: enough for 1,200 streams."""
BEGAN: Final = datetime(2026, 11, 2, tzinfo=UTC)
_STEP: Final = timedelta(minutes=7)


@dataclass(frozen=True, slots=True)
class Template:
    """One recorded answer; `breaks` is the rule that it is published to break, or empty."""

    dialect: str
    profile: str
    body: bytes
    request: Any
    headers: tuple[tuple[str, str], ...]
    breaks: str = ""


def _templates(folder: Path) -> Iterator[tuple[Template, frozenset[str]]]:
    """What may stand in a corpus: one whole answer, and the rules that it breaks by itself."""
    paths = sorted(folder.rglob("*.cassette.jsonl"))
    Random(18).shuffle(paths)  # the first few are of every suite and dialect
    for path in paths:
        recording = open_recording(path)
        exchange, header = recording.exchanges[0], recording.header
        response = exchange.response
        if header.dialect not in DIALECTS or len(recording.exchanges) > 1:
            continue
        if exchange.end != "eof" or exchange.hop or response is None or response.status != 200:
            continue
        if not _is_text(exchange.body):  # no string of JSON can hold it
            continue
        profile = (header.profile or "strict").rpartition("/")[2]
        asked = exchange.request.json if exchange.request else None
        made = Template(header.dialect, profile, exchange.body, asked, response.headers)
        yield (
            made,
            frozenset(broken_rules(made)) & {*header.expect, *([] if header.expect else ["*"])},
        )


def _is_text(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True


@cache
def held_checker(dialect: str, profile: str) -> conformance.Checker:
    return conformance.Checker(dialect, profile)


def broken_rules(made: Template) -> set[str]:
    """What the bare judge says of a template: the oracle of every check of a corpus."""
    checker = held_checker(made.dialect, made.profile)
    response = {"status": 200, "headers": made.headers}
    result = checker.check([made.body], request=made.request, response=response)
    return {rule for rule, verdict in result.verdicts.items() if verdict == "FAIL"}


@cache
def good_templates() -> tuple[Template, ...]:
    """Shipped recordings that break nothing."""
    every = (shipped.cassettes() / dialect for dialect in DIALECTS)
    found = (made for folder in every for made, _ in _templates(folder))
    return tuple(made for made in found if not broken_rules(made))


@cache
def broken_templates() -> tuple[Template, ...]:
    """Published mutants, each with a rule of its own that it is published to break."""
    found: dict[str, Template] = {}
    for made, rules in _templates(shipped.cassettes() / "mutants"):
        for rule in sorted(rules)[:1]:
            found.setdefault(rule, replace(made, breaks=rule))
        if len(found) == MOST_BROKEN:
            break
    return tuple(found.values())


def template_of(number: int) -> Template:
    """The template of a stream."""
    some = broken_templates() if number % EVERY == EVERY - 1 else good_templates()
    return some[number // EVERY % len(some) if some is broken_templates() else number % len(some)]


def planted(numbers: Iterable[int]) -> dict[str, str]:
    """The faults of these streams: id -> rule."""
    return {stream_id(n): template_of(n).breaks for n in numbers if template_of(n).breaks}


def stream_id(number: int) -> str:
    return f"s{number:07}"


def row_of(number: int, body: bytes | None = None) -> dict[str, Any]:
    """The row of a stream, as JSON can hold it but for the body."""
    made = template_of(number)
    return {
        "id": stream_id(number),
        "body": made.body if body is None else body,
        "request": json.dumps(made.request),
        "status": 200,
        "headers": json.dumps(dict(made.headers)),
        "dialect": made.dialect,
        "profile": made.profile,
        "provider": PROVIDERS[number % len(PROVIDERS)],
        "model": f"m-{number % 2}",
        "time": BEGAN + _STEP * number,
    }


def write_parquet(
    file: Path, numbers: Sequence[int], *, group: int = 500, large: bool = False
) -> None:
    """The streams as one Parquet file, `group` rows in each row group."""
    text = pa.large_binary() if large else pa.binary()
    first = pa.Table.from_pylist([row_of(numbers[0])]).schema
    at = first.get_field_index("body")
    schema = first.set(at, pa.field("body", text))
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        for start in range(0, len(numbers), group):
            rows = [row_of(number) for number in numbers[start : start + group]]
            writer.write_table(pa.Table.from_pylist(rows, schema=schema), row_group_size=group)


def json_line(number: int) -> bytes:
    row = row_of(number)
    text = {**row, "body": row["body"].decode(), "time": row["time"].isoformat()}
    return json.dumps(text).encode() + b"\n"


def write_json_lines(file: Path, numbers: Iterable[int]) -> None:
    """The streams as lines; inside `.gz` or `.zst` by the name."""
    data = b"".join(map(json_line, numbers))
    if file.suffix == ".gz":
        data = gzip.compress(data, mtime=0)
    elif file.suffix == ".zst":
        data = zstandard.compress(data)
    file.write_bytes(data)
