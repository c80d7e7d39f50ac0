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

_NOBODY: Final = "http://127.0.0.1:1"
_NOT_OURS: Final = "192.0.2.1"  # an address that no machine has
_CLIENT: Final = f"{sys.executable} -m tests.targets.client_fake behaves"
_ASKED: Final = ("--api", "chat", "--scenario", "think", "--model", "m")
_RELAY: Final = ("--proxy", f"{_NOT_OURS}:0", "--upstream", _NOBODY)
_FOUND: Final = "wire/chat/thinking-counted"  # what is wrong with a recording that is all right
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
    "mutate": ("mutate", "FILE", "--operator", "U2-no-done"),
    "baseline": ("baseline", "FILE", "-o", "baseline.yaml", "--reason", "x"),
    "report": ("report", _FOUND, "FILE", "--seconds", "0.1", "-o", "upstream"),
    "lint": ("lint", "FILE"),
    "test": ("test", "FILE"),
    "explain": ("explain", "done-present", "--suite", "FILE"),
    "list": ("list", "rules", "--suite", "FILE"),
    "list system": ("list", "--system", "FILE"),
    "list report": ("list", "--system", "opal", "--report", "FILE"),
    "markers": ("markers", "FILE"),
    "run": ("run", "--url", _NOBODY, "--api", "chat", "--request", "FILE", "--plan"),
    "run scenario": ("run", "--url", _NOBODY, "--scenario", "FILE", "--plan"),
    "run recorded": ("run", "--client", _CLIENT, "--cassette", "FILE"),
    "serve": ("serve", "FILE", "--host", _NOT_OURS),
    "record": ("record", "--url", _NOBODY, "--request", "FILE", "-o", "recorded.cassette.jsonl"),
    "check trust": ("check", "GOOD", "--trust", "FILE"),
    "explain file": ("explain", "FILE"),
    "run agent": ("run", "--agent", "cat", "--protocol", "acp", "--scenario", "FILE", "--plan"),
    "run agent file": ("run", "--agent", "FILE", "--protocol", "acp", "--scenario", "app-answer"),
    "run cacert": ("run", "--url", _NOBODY, *_ASKED, "--cacert", "FILE"),
    "watch profile": ("watch", *_RELAY, "--profile", "FILE"),
    "watch save": ("watch", *_RELAY, "--save", "FILE"),
    "record cacert": ("record", *_RELAY, "-o", "taken", "--cacert", "FILE"),
    "corpus inspect": ("corpus", "inspect", "FILE"),
    "corpus map": ("corpus", "inspect", "GOOD", "--map", "FILE"),
    "corpus check": ("corpus", "check", "FILE", "--out", "checked", "-j", "1"),
    "corpus report": ("corpus", "report", "checked"),
    "corpus sample": ("corpus", "sample", "checked", "-o", "sampled"),
    "corpus report folder": ("corpus", "report", "FILE"),
    "corpus sample folder": ("corpus", "sample", "FILE", "-o", "sampled-again"),
}
_SHOWN: Final = 3000


def run_verb(arguments: tuple[str, ...], file: str, good: str) -> tuple[int, str]:
    """The exit code, and all that was said."""
    output = io.StringIO()
    named = {"FILE": file, "GOOD": good}
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        try:
            code = main([named.get(each, each) for each in arguments])
        except SystemExit as end:
            code = int(end.code or 0)
    return code, output.getvalue()


if __name__ == "__main__":
    for verb, arguments in VERBS.items():
        code, output = run_verb(arguments, sys.argv[1], sys.argv[2])
        line = {"verb": verb, "code": code, "said": output[:_SHOWN], "size": len(output)}
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()
    sys.stdout.write(json.dumps({"left": sorted(each.name for each in Path().iterdir())}) + "\n")
