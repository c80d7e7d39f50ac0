"""What agents of Agent2Agent send where all rules are kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final

from tests.authoring.a2a import Agent, asked, call, events, result, said, thought
from tests.authoring.draft import Draft, body_draft, stream_draft
from tests.authoring.pieces import Fields, characters, deltas, opaque

DIALECT: Final = "google.a2a"
LOCK: Final = "The keeper eats at noon, and the board says that nobody stands in for him then."
LOCK_TEXT: Final = "No. It opens again at one."

drafted = partial(stream_draft, dialect=DIALECT, path="/")


def drafts() -> Iterator[Draft]:
    yield from _of_version("0.3")
    yield from _of_version("1.0", headers=(("a2a-version", "1.0"),))
    refused = [Agent().error(-32001, "Task 7 was specified but does not exist")]
    yield drafted("a2a-0.3/refused", asked(), events(refused))
    yield _over_rest()
    yield _whole()
    yield drafted("kagent/cut-anywhere", asked(), events(_flower(Agent())), sizes=(97, 12))


def _of_version(version: str, **facts: Any) -> Iterator[Draft]:
    agent, asks = Agent(version), asked(version)
    sizes = (300, 41, 3, 900)
    thinking = f"adk-{version}/thinking-then-text"
    yield drafted(thinking, asks, events(streamed(agent)), sizes=sizes, **facts)
    yield drafted(f"adk-{version}/work-shown", asks, events(shown(agent)), **facts)
    yield drafted(f"a2a-{version}/chunks", asks, events(chunked(agent)), **facts)
    alone = [agent.message([said(LOCK_TEXT)])]
    yield drafted(f"a2a-{version}/lone-message", asks, events(alone), **facts)
    waits = [agent.task(), agent.status("input-required", [said("Which lock?")])]
    yield drafted(f"a2a-{version}/waits", asks, events(waits), **facts)
    why = agent.status("failed", [said("The board is away.")])
    failed = [agent.task(), agent.artifact([said("No. It")]), why]
    yield drafted(f"a2a-{version}/failed", asks, events(failed), **facts)


def streamed(agent: Agent) -> list[Fields]:
    """Thinking and text in chunks of one artifact, which is said again as a whole."""
    parts = [*map(thought, deltas(LOCK)), *map(said, deltas(LOCK_TEXT))]
    return [
        agent.task(),
        agent.status("working"),
        *chunks(agent, parts),
        agent.artifact([thought(LOCK), said(LOCK_TEXT)], last=True),
        agent.status("completed"),
    ]


def chunks(agent: Agent, parts: Sequence[Fields]) -> list[Fields]:
    return [agent.artifact([part], appended=n > 0) for n, part in enumerate(parts)]


def shown(agent: Agent) -> list[Fields]:
    """The work is told in messages of the status: pieces, the whole, and then the artifact."""
    looked = [
        thought("The board will say it."),
        call("read_board", {"line": "noon"}, "adk-1", opaque("the call")),
    ]
    pieces = [*map(thought, deltas(LOCK)), *map(said, deltas(LOCK_TEXT))]
    whole = [thought(LOCK), said(LOCK_TEXT)]
    told = [
        looked,
        [result("read_board", "adk-1", "12 to 1: closed")],
        *([each] for each in pieces),
        whole,
    ]
    return [
        agent.task(),
        *(agent.status("working", parts) for parts in told),
        agent.artifact(whole, last=True),
        agent.status("completed"),
    ]


def chunked(agent: Agent) -> list[Fields]:
    """Text alone, and a task that is sent once more where its version has that."""
    parts = [said(each) for each in deltas(LOCK_TEXT)]
    made = [agent.artifact([p], appended=n > 0, last=p is parts[-1]) for n, p in enumerate(parts)]
    again = [] if agent.is_old else [agent.task("completed")]
    told = agent.status("working", [said("I look at the board.")])
    return [agent.task(), told, *made, agent.status("completed"), *again]


def _over_rest() -> Draft:
    agent = Agent("1.0", is_rest=True)
    parts = [thought(LOCK, "thought"), said(LOCK_TEXT)]
    told = [agent.task(), agent.artifact(parts), agent.status("completed")]
    asks = {"message": asked("1.0")["params"]["message"]}
    return drafted("a2a-1.0/over-rest", asks, events(told), path="/message:stream")


def _whole() -> Draft:
    agent = Agent()
    made = {"artifactId": "answer", "parts": [agent.part(said(LOCK_TEXT))]}
    asks = asked(method="message/send")
    return body_draft(
        "a2a-0.3/whole",
        asks,
        agent.task("completed", artifacts=[made]),
        dialect=DIALECT,
        path="/",
    )


def _flower(agent: Agent) -> list[Fields]:
    thoughts = [thought(each, "kagent_thought") for each in characters("花の色を聞かれている。")]
    parts = [*thoughts, *map(said, characters("さくらの花は淡い桃色です。"))]
    whole = [agent.artifact([part], appended=n > 0) for n, part in enumerate(parts[:-1])]
    last = agent.artifact(parts[-1:], appended=True, last=True)
    return [agent.task(), *whole, last, agent.status("completed")]
