"""An agent of Agent2Agent is asked in the version that it knows, and in its own context."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from conformance.core.errors import RemoteError
from tests.authoring.a2a import Agent, text_part
from tests.evidence.two_hops import sse
from tests.plain_results import violated
from tests.runs.test_run_application import ran

METHODS: Final = {"message/stream": "0.3", "SendStreamingMessage": "1.0"}


class TalkingAgent:
    """Knows some versions, and keeps each conversation under the name that it gave it."""

    def __init__(self, *versions: str) -> None:
        self.upstream, self.versions, self.asked = "", versions, list[Any]()
        self.talks: dict[str, list[Any]] = {}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        del scope
        body = b""
        while (event := await receive())["type"] == "http.request":
            body += event["body"]
            if not event.get("more_body"):
                break
        asked = json.loads(body)
        self.asked.append(asked)
        version = METHODS[asked["method"]]
        answer = await self._answer(version, asked["params"]["message"])
        head = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": head})
        await send({"type": "http.response.body", "body": sse(answer).encode()})

    async def _answer(self, version: str, message: Any) -> list[Any]:
        agent = Agent(version)
        if version not in self.versions:
            return [agent.error(-32601, "Method not found")]
        task = agent.task()
        given = message.get("contextId") or f"context {len(self.talks)}"
        talk = self.talks.setdefault(given, [])
        talk.append({"role": "user", "content": message["parts"][0]["text"]})
        async with httpx.AsyncClient(base_url=self.upstream) as client:
            question = {"model": "think-1", "messages": talk, "stream": True}
            reply = await client.post("/v1/chat/completions", json=question)
        chunks = [json.loads(each[6:]) for each in reply.text.split("\n\n") if each[6:7] == "{"]
        deltas = [each["choices"][0]["delta"] for each in chunks if each["choices"]]
        text = "".join(each.get("content") or "" for each in deltas)
        talk.append({"role": "assistant", "content": text})
        found = [task, agent.artifact([text_part(text)]), agent.status("completed")]
        named: list[Any] = json.loads(json.dumps(found).replace(_context_of(task), given))
        return named


def _context_of(task: Any) -> str:
    held = task["result"]
    return str(held.get("task", held)["contextId"])


@pytest.mark.parametrize(
    ("versions", "methods"),
    [
        (["0.3"], ["message/stream"]),
        (["1.0"], ["message/stream", "SendStreamingMessage"]),
        (["0.3", "1.0"], ["message/stream"]),
    ],
)
def test_agent_gets_its_protocol(versions: list[str], methods: list[str], tmp_path: Path) -> None:
    agent = TalkingAgent(*versions)
    outcome = ran(agent, tmp_path, "google.a2a", scenarios=["app-answer"])
    assert violated(outcome.report) == set()
    assert list(dict.fromkeys(each["method"] for each in agent.asked)) == methods
    assert [len(each) for each in agent.talks.values()][-1] == 4
    spoken = [each["params"]["message"]["messageId"] for each in agent.asked]
    assert len({*spoken}) == len(spoken)


def test_an_agent_that_knows_no_version_is_reported(tmp_path: Path) -> None:
    with pytest.raises(RemoteError, match="Method not found"):
        ran(TalkingAgent(), tmp_path, "google.a2a", scenarios=["app-answer"])
