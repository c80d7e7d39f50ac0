"""Clients that were run once, as rows of the page of clients, from `run_once.yaml`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

LISTED: Final = Path(__file__).with_name("run_once.yaml")
_HEAD: Final = """\
## Run once

Clients of packages whose adapters are not kept, and which no test repeats: each recording once,
on {date}. The findings are those of the runs; of autogen, any-llm, together and cohere the bytes or
the package's source were read, too.
Of an SDK that a provider makes for itself only that provider's recordings count
(`--profile NAME`), where the row says so.

| client | API | exchanges with a finding | what is lost, or fails |
|---|---|---|---|"""


def run_once_rows() -> Iterator[str]:
    """The section of the page."""
    listed = yaml.safe_load(LISTED.read_text("utf-8"))
    yield _HEAD.format(date=listed["date"])
    yield from (_row(each) for each in listed["clients"])


def _row(each: Mapping[str, Any]) -> str:
    api = f"{each['api']}, `--profile {each['as']}`" if "as" in each else each["api"]
    cells = (f"{each['client']} {each['version']}", api, each["with"], each["wrong"] or "nothing")
    return f"| {' | '.join(cells)} |"
