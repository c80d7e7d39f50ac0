"""What the client may import."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

CLIENT = Path(__file__).parents[2] / "reference_impl" / "client"
MODULES = sorted(CLIENT.rglob("*.py"))
READERS = (
    "chat",
    "messages",
    "responses",
    "gemini",
    "interactions",
    "converse",
    "cohere",
    "content_blocks",
    "ollama",
    "binary",
    "lines",
    "elements",
    "frame",
    "reader",
    "sse",
    "speech",
    "call",
    "markers",
)
OUTSIDE = ("httpx", "socket", "asyncio", "pathlib", "os")


def imported(path: Path) -> Iterator[str]:
    """Full names of what others wrote; dots in front of what is the client's own."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")


def test_only_httpx_is_needed_next_to_the_standard_library() -> None:
    offenders = [
        f"{path.name} imports {name}"
        for path in MODULES
        for name in imported(path)
        if not name.startswith(".")
        if name.partition(".")[0] not in {*sys.stdlib_module_names, "httpx"}
    ]
    assert offenders == []


def test_readers_know_no_outside_and_no_defect() -> None:
    offenders = [
        f"{path.name} imports {name}"
        for path in MODULES
        if path.stem.startswith(READERS) and not path.stem.endswith(("request", "command"))
        for name in imported(path)
        if name in OUTSIDE or ".defects" in name
    ]
    assert offenders == []


def test_reading_a_stream_needs_no_http() -> None:
    code = "import reference_impl.client, sys; sys.exit('httpx' in sys.modules)"
    folder = CLIENT.parent.parent
    assert subprocess.run([sys.executable, "-c", code], cwd=folder, check=False).returncode == 0
