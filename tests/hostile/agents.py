"""The catalogue of hostile agents: programs that are asked on their standard streams."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Final

from tests.hostile.limited import START_MB, START_S

REMOTE: Final = 3
FINDINGS: Final = 1
_UPDATE: Final = (
    '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":'
    '{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}}}\\n'
)


@dataclass(frozen=True, slots=True)
class HostileAgent:
    """Lines of Python that misbehave. `codes` are those with which a run may end."""

    name: str
    program: str
    codes: tuple[int, ...] = (REMOTE,)
    seconds: int = START_S + 12
    megabytes: int = START_MB + 200
    protocol: str = "acp"
    sampled: bool = False

    @property
    def command(self) -> str:
        # One word for the shell of whoever reads the command line.
        return f"{sys.executable} -c '{self.program}'"


def flood(name: str, what: str, *, sampled: bool = False) -> HostileAgent:
    program = f"import sys\nwhile True: sys.stdout.write({what})"
    return HostileAgent(name, program, (FINDINGS, REMOTE), sampled=sampled)


def writing(name: str, what: str) -> HostileAgent:
    """Says one thing, and then nothing."""
    program = f"import sys, time\nsys.stdout.write({what})\nsys.stdout.flush()\ntime.sleep(600)"
    return HostileAgent(name, program, (FINDINGS, REMOTE))


AGENTS: Final = (
    HostileAgent("silence", "import time\ntime.sleep(600)", sampled=True),
    HostileAgent("an end at once", "pass"),
    HostileAgent("a crash", "import os\nos.abort()"),
    HostileAgent("a signal ignored", "import signal, time\nsignal.signal(15, 1)\ntime.sleep(600)"),
    HostileAgent("streams closed", "import os, time\nos.close(1)\nos.close(0)\ntime.sleep(600)"),
    HostileAgent("a child with the pipe", 'import subprocess\nsubprocess.Popen(["sleep", "600"])'),
    HostileAgent(
        "a flood of errors", 'import sys\nwhile True: sys.stderr.write("\\x1b[2J" * 9999)'
    ),
    flood("a flood of lines", '"x\\n" * 9999', sampled=True),
    flood("a flood of one line", '"x" * 9999'),
    flood("a flood of updates", f'"""{_UPDATE}""" * 999'),
    flood("a flood of blank lines", '"\\n" * 9999'),
    flood("a flood of answers", '"{\\"jsonrpc\\":\\"2.0\\",\\"id\\":7,\\"result\\":{}}\\n" * 999'),
    writing("deep JSON", '"[" * 900000 + "\\n"'),
    writing("digits", '"{\\"id\\":" + "9" * 90000 + "}\\n"'),
    writing("a surrogate", '"{\\"id\\":\\"\\\\ud800\\"}\\n"'),
    writing("escapes", '"\\x1b]0;owned\\x07\\x1b[2J\\u202e\\n"'),
    writing("zeros", '"\\0" * 99999 + "\\n"'),
    writing("another version", '"{\\"jsonrpc\\":\\"9\\",\\"id\\":0,\\"result\\":[]}\\n"'),
    HostileAgent(
        "an error for all",
        "import sys, json\nfor line in sys.stdin: "
        'print(json.dumps({"jsonrpc": "2.0", "id": json.loads(line).get("id"), '
        '"error": {"code": -1, "message": "\\x1b[2J" * 99}}), flush=True)',
        (FINDINGS, REMOTE),
    ),
    HostileAgent(
        "an answer of nothing",
        "import sys, json\nfor line in sys.stdin: "
        'print(json.dumps({"jsonrpc": "2.0", "id": json.loads(line).get("id"), "result": None}), '
        "flush=True)",
        (FINDINGS, REMOTE),
    ),
    HostileAgent(
        "a command that floods",
        'import sys\nwhile True: sys.stdout.write("{}\\n" * 9999)',
        (FINDINGS, REMOTE),
        protocol="claude.stream-json",
    ),
    HostileAgent(
        "a command that is silent",
        "import time\ntime.sleep(600)",
        (FINDINGS, REMOTE),
        protocol="codex.exec",
    ),
    HostileAgent(
        "a server that floods",
        'import sys\nwhile True: sys.stdout.write("{}\\n" * 9999)',
        (FINDINGS, REMOTE),
        protocol="codex.app-server",
    ),
)
