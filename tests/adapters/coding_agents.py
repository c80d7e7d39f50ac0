"""Claude Code and Codex as commands: the lines that `claude -p` and `codex exec` write.

`python -m tests.adapters.coding_agents claude|codex`; both come with npm packages, looked for in
$CLIENTS_FOLDER, and then in PATH. Codex tells an item when it is whole, and of a call that it
cannot carry out nothing; Claude Code passes the events of its provider on.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from conformance.targets.agent.environment import agent_environment
from tests.adapters.harness import Event, Failed, Skip, question, serve, spoken, thinking

COMMANDS: Final = {
    "claude": "claude --output-format stream-json --verbose --include-partial-messages --model={}"
    " -p",
    "codex": "codex exec --json --skip-git-repo-check",
}
PATIENCE_S: Final = 15.0
Reader = Callable[[Mapping[str, Any]], Iterator[Event]]


def claude_events(line: Mapping[str, Any]) -> Iterator[Event]:
    """What a line of Claude Code tells its user."""
    event = line.get("event", {})
    delta = event.get("delta", {})
    if line["type"] == "stream_event" and event.get("type") == "content_block_delta":
        yield from thinking(delta.get("thinking"))
        yield from spoken(delta.get("text"))
    elif line["type"] == "assistant" and not line.get("error"):
        for block in line["message"]["content"]:
            if block["type"] == "tool_use":
                arguments = json.dumps(block["input"])
                yield {"type": "tool.end", "name": block["name"], "arguments": arguments}
    elif line["type"] == "result" and line["is_error"]:
        raise Failed(str(line.get("result") or line.get("errors") or line["subtype"]))


def is_whole(line: Mapping[str, Any]) -> bool:
    """Whether the first answer has come to its end; Claude Code ends one that broke off, too."""
    ends = line.get("event", {}).get("type") == "message_stop"
    return ends and "abandoned_blocks" not in line


def codex_events(line: Mapping[str, Any]) -> Iterator[Event]:
    """What a line of Codex tells its user."""
    if line["type"] == "item.completed":
        item = line["item"]
        if item["type"] == "reasoning":
            yield from thinking(item["text"], "summary")
        elif item["type"] == "agent_message":
            yield from spoken(item["text"])
    elif line["type"] in ("turn.failed", "error"):
        raise Failed(str(line.get("error") or line.get("message")))


def end(process: subprocess.Popen[str]) -> None:
    """Kills it and what it has started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def stream_of(command: str, events: Reader) -> Callable[[Mapping[str, Any]], Iterator[Event]]:
    """Runs the command once a case, in an empty folder and with a home of its own."""

    def stream(case: Mapping[str, Any]) -> Iterator[Event]:
        reported: list[Event] = []
        failed: Failed | None = None
        # What comes is told at the end: a turn without one is none that could be judged.
        for line in lines_of([*command.format(case["model"]).split(), question(case)], case):
            try:
                reported += events(line)
            except Failed as said:
                failed = said
            if is_whole(line):
                break  # it goes on by itself: calls fail, and it asks again
        yield from reported
        if failed:
            raise failed

    return stream


def lines_of(command: Sequence[str], case: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """What it writes until it ends, or is left. Raises Skip where it does not end."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as errors:
        url = case["base_url"].removesuffix("/v1")
        with subprocess.Popen(
            command,
            cwd=folder,
            env=agent_environment(url, case["model"], Path(folder)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
        ) as process:
            assert process.stdout
            patience = threading.Timer(PATIENCE_S, end, [process])
            patience.start()
            try:
                yield from map(json.loads, process.stdout)
                if patience.finished.is_set():
                    raise Skip("the turn has no end: a call fails, and it asks again")
            finally:
                patience.cancel()
                end(process)


if __name__ == "__main__":
    name = sys.argv[1]
    commands = Path(os.environ.get("CLIENTS_FOLDER", ".")).absolute() / "node_modules" / ".bin"
    os.environ["PATH"] = f"{commands}{os.pathsep}{os.environ['PATH']}"
    said = subprocess.run([name, "--version"], capture_output=True, text=True, check=True).stdout
    release = next(word for word in said.split() if word[0].isdigit())
    serve(
        stream_of(COMMANDS[name], claude_events if name == "claude" else codex_events),
        release=release,
        name="claude-code" if name == "claude" else "codex-exec",
        dialects=["anthropic.messages" if name == "claude" else "openai.responses"],
        events=("thinking.delta", "text.delta", *(("tool.end",) if name == "claude" else ())),
    )
