"""No module outside `dialects/` holds a dialect's name or one of its JSON keys."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.dialects import ENDPOINTS, NAMES, SUPPORTED, WIRE_KEYS

PACKAGE = Path(__file__).parents[2] / "conformance"
# Words that the toolkit has too: of semantic events, of its own formats, of HTTP, of JSON Schema.
WORDS = {
    *("arguments", "content", "data", "delta", "format", "index", "input", "kind", "logit_bias"),
    *("metadata", "object", "output", "parameters", "phase", "properties", "reason", "reasoning"),
    *("refusal", "role", "safety", "schema", "signature", "status", "summary", "text", "thinking"),
    *("type", "messages", "choices", "tool_calls", "models", "options", "args", "parts"),
    *("response", "context", "steps", "result", "info", "state"),
}
KEYS = {
    *(WIRE_KEYS.texts + WIRE_KEYS.indices + WIRE_KEYS.opaque + WIRE_KEYS.words),
    *(WIRE_KEYS.free + WIRE_KEYS.unrolled),
    *(key for each in SUPPORTED.values() if each.request for key in each.request.limits),
    *("content_block", "item_id", "sequence_number", "call_id", "tool_call_id", "tool_use_id"),
    *("include_usage", "budget_tokens", "reasoning_effort", "completion_tokens"),
    *("prompt_tokens", "input_tokens", "output_tokens", "previous_response_id", "instructions"),
} - WORDS
TYPES = re.compile(
    r"(response|chat)\.[a-z_.]+|(content_block|message)_(start|delta|stop)|chatcmpl-\w+"
)
NAMED = re.compile("|".join(map(re.escape, NAMES)))
PATHS = {endpoint.path for endpoint in ENDPOINTS.values()}
ALLOWED = {
    # The demo judges one shipped recording; its folder has the dialect's name.
    "cli/demo.py": {"openai.responses/demo/summary.cassette.jsonl"},
    # A log keeps the content of an answer; the body around it is the importer's.
    "cassette/importers/session_forms.py": {"candidates"},
    # Request keys that say how an answer is wanted, not what; any gateway may take them.
    "recordings/lint_requests.py": {"stream_options"},
    # Rows of rules, whose suites may be called as their dialect is, and of the fields they read.
    "judging/following_rules.py": None,
    # Rules of one client's document, which speaks of Chat Completions.
    "judging/harness.py": None,
    # The name of a file.
    "pytest_plugin/trace.py": {"response.cassette.jsonl"},
    # Paths in files of recorders, whose entries have a `response`.
    "cassette/importers/recorders/batches.py": None,
    "cassette/importers/recorders/row.py": None,
    "cassette/importers/recorders/table.py": None,
    # Attributes of another convention, and the words of the APIs that they keep.
    "cassette/importers/openinference.py": None,
    # The protocol of adapters has messages and tools in the form of Chat Completions.
    "targets/client/exchange_replays.py": {"tool_call_id"},
}


def literals(path: Path) -> Iterator[str]:
    """String literals that are no docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    prose = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in prose:
            if isinstance(node.value, str):
                yield node.value
            elif isinstance(node.value, bytes):
                yield node.value.decode("latin-1")


def offends(text: str) -> bool:
    return bool(text in KEYS or text in PATHS or TYPES.fullmatch(text) or NAMED.search(text))


@pytest.mark.every_run
def test_nothing_outside_the_dialects_knows_their_names_or_keys() -> None:
    offenders = {
        f"{name}: {text!r}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if (name := path.relative_to(PACKAGE).as_posix()).partition("/")[0]
        not in ("dialects", "_data", "reference")
        for text in literals(path)
        if offends(text) and (allowed := ALLOWED.get(name, set())) is not None
        if text not in allowed
    }
    assert offenders == set()
