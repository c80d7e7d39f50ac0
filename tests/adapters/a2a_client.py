"""The official client of Agent2Agent: what its events say of an answer, thoughts by their mark.

Agents say again as a whole what they streamed; a user is shown the rest of it. This release of the
client reads streams since 1.0, those up to 0.3 need another one.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, Final

from tests.adapters.harness import Event, Failed, question, serve, spoken, thinking

_MARKS: Final = ("adk_thought", "kagent_thought", "thought")
_BROKEN: Final = ("TASK_STATE_FAILED", "TASK_STATE_REJECTED", "TASK_STATE_CANCELED")


async def events_of(command: Mapping[str, Any]) -> AsyncIterator[dict[str, Any]]:
    """Every event that the client gives, as an object."""
    client, types = import_module("a2a.client"), import_module("a2a.types")
    as_dict = import_module("google.protobuf.json_format").MessageToDict
    interface = types.AgentInterface(
        url=command["base_url"], protocol_binding="JSONRPC", protocol_version="1.0"
    )
    card = types.AgentCard(
        name="played",
        capabilities=types.AgentCapabilities(streaming=True),
        supported_interfaces=[interface],
    )
    message = types.Message(
        role="ROLE_USER", message_id="m", parts=[types.Part(text=question(command))]
    )
    asking = client.ClientFactory(client.ClientConfig(streaming=True)).create(card)
    async for event in asking.send_message(types.SendMessageRequest(message=message)):
        yield as_dict(event)


def stream(command: Mapping[str, Any]) -> Iterator[Event]:
    texts = {True: "", False: ""}  # thoughts, and text
    events = events_of(command)

    async def following() -> dict[str, Any] | None:
        return await anext(events, None)

    with asyncio.Runner() as runner:
        while (event := runner.run(following())) is not None:
            yield from shown(event, texts)


def shown(event: Mapping[str, Any], said: dict[bool, str]) -> Iterator[Event]:
    """What a user sees of an event: its parts, and that a task failed."""
    is_appended = event.get("artifactUpdate", {}).get("append", False)
    status = event.get("statusUpdate", event.get("task", {})).get("status", {})
    if status.get("state") in _BROKEN:
        raise Failed(status["state"])
    holders = [event.get("message"), event.get("artifactUpdate", {}).get("artifact")]
    holders += [*event.get("task", {}).get("artifacts", ()), status.get("message")]
    for holder in filter(None, holders):
        for is_thought, tell in ((True, thinking), (False, spoken)):
            text = "".join(_texts(holder.get("parts", ()), is_thought=is_thought))
            new = text if is_appended else _rest(said[is_thought], text)
            said[is_thought] += new
            yield from tell(new)


def _texts(parts: Sequence[Mapping[str, Any]], *, is_thought: bool) -> Iterator[str]:
    for part in parts:
        marked = any(part.get("metadata", {}).get(name) is True for name in _MARKS)
        if marked is is_thought:
            yield part.get("text", "")


def _rest(known: str, text: str) -> str:
    """What a text says that was not said before."""
    return text.removeprefix(known) if text not in known else ""


if __name__ == "__main__":
    serve(
        stream,
        package="a2a-sdk",
        name="a2a-sdk",
        dialects=["google.a2a"],
        events=["thinking.delta", "text.delta"],
    )
