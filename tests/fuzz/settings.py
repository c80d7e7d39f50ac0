"""Files by which users say what they want, to edit: each is read by its name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Final

from conformance.baseline.entries import load_baseline
from conformance.core.configuration import KEYS
from conformance.corpus.columns import read_columns
from conformance.pytest_plugin.spec import read_spec
from conformance.rules import document
from conformance.runs.project import project_of

_RECORDINGS: Final = b"""\
suites: [wire/chat]
rules: ["wire/*"]
cassettes: [a.cassette.jsonl, "b/*.sse"]
dialect: openai.chat
profile: strict
items: exchange
"""
_LIVE: Final = b"""\
scenarios: [think]
apis: [chat]
model: m
without: [tools]
api-key-env: NO_SUCH_KEY
target: vllm-0.11
expected-failures: baseline.yaml
"""
_BASELINE: Final = b"""\
target: ogx-1.5.0
entries:
  - rule: wire/responses-parts/text-part-lifecycle
    exchange: [text, tool, think/plain]
    reason: There is no output_text.done.
  - {rule: wire/a/b, exchange: 7, finding: 3f2a90c1d2e3, reason: "#124", until: 2027-03-01}
  - {rule: wire/a/c, exchange: text, reason: sometimes, flaky: 3/9}
"""
_COLUMNS: Final = b"body: response.text\nid: request_id\nprovider: vendor\nkeep: [region, a.b]\n"
_PROJECT: Final = b"""\
recordings: [recorded, more]
suites: [shipped, rules/own.yaml]
profile: vllm
strict: true
reports: {html: report.html, junit: junit.xml}
targets:
  staging-1.2: {url: "http://127.0.0.1:8000/v1", api: [chat], headers: {x-tenant: TENANT}}
  ours: {client: python adapter.py, pass: [MODELS], timeout: 30.5}
trust: runs
"""
SETTINGS: Final = (
    ("conformance.yaml", _RECORDINGS),
    ("conformance.yaml", _LIVE),
    ("baseline.yaml", _BASELINE),
    ("columns.yaml", _COLUMNS),
    ("project.yaml", _PROJECT),
)


def _read_project(path: Path) -> None:
    project_of(document.load(path).mapping(KEYS))


_READERS: Final[dict[str, Callable[[Path], object]]] = {
    "conformance.yaml": read_spec,
    "baseline.yaml": load_baseline,
    "columns.yaml": read_columns,
    "project.yaml": _read_project,
}


def read_settings(name: str, data: bytes, _: Random, folder: Path) -> None:
    """Raises SpecError, UsageError, and what nobody documents."""
    path = folder / name
    path.write_bytes(data)
    _READERS[name](path)
