"""Runs every verb on one file in one process: `python -m tests.hostile.each_verb FILE GOOD`.

One line of JSON for each: the verb, its exit code, and what it said. `GOOD` is a recording that is
all right, for verbs that read two.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Final

from conformance.cli import main

VERBS: Final[dict[str, tuple[str, ...]]] = {
    "check": ("check", "FILE"),
    "check dialect": ("check", "FILE", "--dialect", "openai.chat", "--format", "json"),
    "check suite": ("check", "GOOD", "--suite", "FILE"),
    "check profile": ("check", "GOOD", "--profile", "FILE"),
    "check baseline": ("check", "GOOD", "--expected-failures", "FILE"),
    "inspect": ("inspect", "FILE"),
    "identify": ("identify", "FILE"),
    "convert": ("convert", "FILE", "out.cassette.jsonl", "--force"),
    "convert vectors": ("convert", "FILE", "vectors", "--to", "vectors", "--force"),
    "redact": ("redact", "FILE", "-o", "redacted.cassette.jsonl"),
    "redact scan": ("redact", "--scan", "FILE"),
    "diff": ("diff", "GOOD", "FILE"),
    "mutate": ("mutate", "FILE", "--operator", "drop-done"),
    "baseline": ("baseline", "FILE", "-o", "baseline.yaml", "--reason", "x"),
    "report": ("report", "sse", "FILE", "--seconds", "0.1", "-o", "upstream"),
    "lint": ("lint", "FILE"),
    "explain": ("explain", "done-present", "--suite", "FILE"),
    "list": ("list", "rules", "--suite", "FILE"),
    "list system": ("list", "--system", "FILE"),
    "list report": ("list", "--system", "opal", "--report", "FILE"),
    "markers": ("markers", "FILE"),
    "run": ("run", "--url", "http://127.0.0.1:1", "--api", "chat", "--request", "FILE", "--plan"),
    "run scenario": ("run", "--url", "http://127.0.0.1:1", "--scenario", "FILE", "--plan"),
    "run recorded": ("run", "--url", "http://127.0.0.1:1", "--cassette", "FILE", "--plan"),
}
_SHOWN: Final = 3000


def run_verb(arguments: tuple[str, ...], file: str, good: str) -> tuple[int, str]:
    """The exit code, and all that was said."""
    told = io.StringIO()
    named = {"FILE": file, "GOOD": good}
    with contextlib.redirect_stdout(told), contextlib.redirect_stderr(told):
        try:
            code = main([named.get(each, each) for each in arguments])
        except SystemExit as end:
            code = int(end.code or 0)
    return code, told.getvalue()


if __name__ == "__main__":
    for verb, arguments in VERBS.items():
        code, told = run_verb(arguments, sys.argv[1], sys.argv[2])
        line = {"verb": verb, "code": code, "said": told[:_SHOWN], "size": len(told)}
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()
    sys.stdout.write(json.dumps({"left": sorted(each.name for each in Path().iterdir())}) + "\n")
