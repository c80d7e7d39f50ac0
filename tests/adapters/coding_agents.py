"""Claude Code and Codex as commands: the lines that `claude -p` and `codex exec` write.

`python -m tests.adapters.coding_agents claude|codex`; both come with npm packages, whose folder
of commands stands in PATH. Codex tells an item when it is whole, and of a call that it cannot carry
out nothing; Claude Code passes the events of its provider on.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from conformance.targets.agent.environment import agent_environment
from tests.adapters.harness import Event, Failed, question, serve, spoken, thinking

COMMANDS: Final = {
    "claude": "claude --output-format stream-json --verbose --include-partial-messages --model={}"
    " -p",
    "codex": "codex exec --json --skip-git-repo-check",
}
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


def stream_of(command: str, events: Reader) -> Callable[[Mapping[str, Any]], Iterator[Event]]:
    """Runs the command once a case, in an empty folder and with a home of its own."""

    def stream(case: Mapping[str, Any]) -> Iterator[Event]:
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as errors:
            url = case["base_url"].removesuffix("/v1")
            env = agent_environment(url, case["model"], Path(folder))
            given = [*command.format(case["model"]).split(), question(case)]
            with subprocess.Popen(
                given,
                cwd=folder,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            ) as process:
                assert process.stdout
                try:
                    for line in map(json.loads, process.stdout):
                        yield from events(line)
                        if line.get("event", {}).get("type") == "message_stop":
                            return  # it goes on by itself: calls fail, and it asks again
                finally:
                    process.kill()

    return stream


if __name__ == "__main__":
    name = sys.argv[1]
    said = subprocess.run([name, "--version"], capture_output=True, text=True, check=True).stdout
    release = next(word for word in said.split() if word[0].isdigit())
    serve(
        stream_of(COMMANDS[name], claude_events if name == "claude" else codex_events),
        release=release,
        name="claude-code" if name == "claude" else "codex-exec",
        dialects=["anthropic.messages" if name == "claude" else "openai.responses"],
        events=("thinking.delta", "text.delta", *(("tool.end",) if name == "claude" else ())),
    )
