"""The adapter for clients of Node that ships: alone, with a client of one's own, and its words."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

from tests.adapters.test_adapters import CHAT, ROOT, TOOLS, found, node_command, run

KIT = ROOT / "conformance" / "adapters" / "adapter.mjs"
# An adapter with further ops, whose client prints, fails, or has no end, as the model's name says.
OPS = """
import { serve, spoken } from './adapter.mjs';
const { log } = console; // as libraries keep it from the start
async function* client({ model }) {
  console.log('not for stdout');
  log('nor is this');
  process.stdout.write('nor that\\n');
  yield* spoken('So.');
  if (model === 'fails') throw new Error('no such model');
  if (model === 'cut') return 'cut';
}
const about = { name: 'ops', version: '1', dialects: ['openai.chat'], events: ['text.delta'] };
await serve(client, about, {
  next_request: ({ messages }) => ({ path: '/v1/x', headers: [], json: { messages } }),
  extract: () => { throw new Error('it is no message'); },
});
"""
ASKED = {"dialect": "openai.chat", "messages": [], "options": {}, "deadline_ms": 5000}


def test_the_adapter_of_node_that_ships_reads_every_edit() -> None:
    outcome = run([*node_command(), str(KIT)], CHAT, TOOLS, extent="full")
    assert found(outcome) == {}
    assert outcome.about.name == "my-client"
    assert outcome.cases > 80


def test_a_client_of_ones_own_uses_the_adapter_ofnode(tmp_path: Path) -> None:
    command = node_command()
    shutil.copy(KIT, tmp_path)
    text = (ROOT / "docs" / "clients.md").read_text("utf-8")
    code = re.search(r'```javascript title="mine.mjs"\n(.*?)```', text, re.DOTALL)
    assert code is not None
    (tmp_path / "mine.mjs").write_text(code[1], "utf-8")
    outcome = run([*command, str(tmp_path / "mine.mjs")], CHAT)
    assert found(outcome) == {}
    assert outcome.about.name == "mine"


def test_the_adapter_of_node_answers_every_command_in_its_words(tmp_path: Path) -> None:
    command = node_command()
    shutil.copy(KIT, tmp_path)
    (tmp_path / "ops.mjs").write_text(OPS, "utf-8")
    commands = [
        {"cmd": "start", "version": 1},
        *(
            {"cmd": "stream", "seq": name, "model": name, **ASKED}
            for name in ("whole", "cut", "fails")
        ),
        {"cmd": "stream", "seq": "other", "model": "m", **ASKED, "dialect": "cohere.v2"},
        {"cmd": "next_request", "seq": "n", **ASKED},
        {"cmd": "extract", "seq": "e", **ASKED, "message": {}},
        {"cmd": "restore", "seq": "r", "stored": {}},
        {"cmd": "stop"},
    ]
    lines = "".join(json.dumps(each) + "\n" for each in commands)
    ran = subprocess.run(
        [*command, str(tmp_path / "ops.mjs")],
        input=lines,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    answers = [json.loads(line) for line in ran.stdout.splitlines()]
    assert answers[0]["implementation"]["ops"] == ["stream", "next_request", "extract"]
    ends = {each["seq"]: each["end"] for each in answers if "end" in each}
    assert ends == {
        "whole": {"how": "completed"},
        "cut": {"how": "cut"},
        "fails": {"how": "failed", "message": "Error: no such model"},
    }
    assert [each for each in answers[1:] if not {"event", "end"} & set(each)] == [
        {"seq": "other", "skipped": "unknown to this adapter"},
        {"seq": "n", "request": {"path": "/v1/x", "headers": [], "json": {"messages": []}}},
        {"seq": "e", "errored": {"message": "Error: it is no message"}},
        {"seq": "r", "skipped": "unknown to this adapter"},
    ]
    assert {"not for stdout", "nor is this", "nor that"} <= set(ran.stderr.splitlines())
