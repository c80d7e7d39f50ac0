"""What a client says to agents: handshake, turns, refusals, the wish to stop."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Mapping
from typing import Any, Final

import pytest

from conformance.dialects import AGENTS
from conformance.dialects.agent import AgentConversation

FOLDER = "/project"
HOSTILE: tuple[Any, ...] = (
    *(None, [], 7, {}, {"id": []}, {"id": {}, "result": 1}, {"method": 3}),
    *({"id": 1e300, "error": None}, {"id": True, "result": {}}),
)


def conversation(protocol: str) -> AgentConversation:
    begun = AGENTS[protocol].conversation
    assert begun is not None
    return begun(FOLDER)


def methods_of(messages: list[Mapping[str, Any]]) -> list[Any]:
    """Method and parameters of each, or what it answers."""
    return [
        (m["method"], m["params"]) if "method" in m else m.get("result", m.get("error"))
        for m in messages
    ]


def opened_acp() -> AgentConversation:
    talk = conversation("acp")
    (greeting,) = talk.ask({"prompt": [{"type": "text", "text": "Hi"}]})
    (opening,) = talk.take({"jsonrpc": "2.0", "id": greeting["id"], "result": {}})
    assert opening["params"] == {"cwd": FOLDER, "mcpServers": []}
    (prompt,) = talk.take({"id": opening["id"], "result": {"sessionId": "s1"}})
    assert prompt["method"] == "session/prompt"
    assert prompt["params"]["sessionId"] == "s1"
    assert talk.is_prompted
    return talk


def test_a_session_is_opened_before_its_first_prompt() -> None:
    talk = opened_acp()
    assert talk.take({"method": "session/update", "params": {}}) == []
    assert not talk.is_over
    assert talk.take({"id": 2, "result": {"stopReason": "end_turn"}}) == []
    assert talk.is_over


def test_a_second_turn_of_a_session_has_no_handshake() -> None:
    talk = opened_acp()
    talk.take({"id": 2, "result": {"stopReason": "end_turn"}})
    (prompt,) = talk.ask({"prompt": [], "sessionId": ""})
    assert prompt["params"]["sessionId"] == "s1"
    (opening,) = talk.ask({"prompt": []})
    assert opening["method"] == "session/new"


def update(session: str, kind: str) -> dict[str, Any]:
    news = {"sessionUpdate": kind}
    return {"method": "session/update", "params": {"sessionId": session, "update": news}}


@pytest.mark.parametrize(
    ("message", "is_elsewhere"),
    [
        (update("s1", "available_commands_update"), True),
        (update("s1", "usage_update"), True),
        # Words that go to another session are a fault of the agent, and stay.
        (update("s1", "agent_message_chunk"), False),
        (update("s2", "usage_update"), False),
        (update("never opened", "usage_update"), False),
        *((each, False) for each in HOSTILE),
    ],
)
def test_news_of_a_session_that_was_left_is_elsewhere(message: Any, *, is_elsewhere: bool) -> None:
    talk = opened_acp()
    talk.take({"id": 2, "result": {"stopReason": "end_turn"}})
    assert not talk.is_elsewhere(update("s1", "usage_update"))
    (opening,) = talk.ask({"prompt": []})
    talk.take({"id": opening["id"], "result": {"sessionId": "s2"}})
    assert talk.is_elsewhere(message) is is_elsewhere


def test_a_process_that_was_started_again_opens_a_session_of_its_own() -> None:
    talk = conversation("acp")
    (greeting,) = talk.ask({"prompt": [], "sessionId": "of the process before"})
    (opening,) = talk.take({"id": greeting["id"], "result": {}})
    assert opening["method"] == "session/new"
    (prompt,) = talk.take({"id": opening["id"], "result": {"sessionId": "s1"}})
    assert prompt["params"] == {"sessionId": "s1", "prompt": []}


def test_an_error_that_answers_the_prompt_ends_the_turn() -> None:
    talk = opened_acp()
    talk.take({"id": 2, "error": {"code": 1, "message": "no"}})
    assert talk.is_over
    assert talk.refusal == ""


def test_an_error_that_answers_the_handshake_ends_all() -> None:
    talk = conversation("acp")
    talk.ask({"prompt": []})
    assert talk.take({"id": 0, "error": {"code": -32000, "message": "log in"}}) == []
    assert talk.refusal == "it refused initialize: log in"


UNKNOWN: Final = {"code": -32000, "message": "Authentication required"}


def opening(*ways: str) -> tuple[AgentConversation, int]:
    """A conversation with an agent that knows its users by these, and the id of what opens it."""
    talk = conversation("acp")
    talk.ask({"prompt": []})
    (opened,) = talk.take({"id": 0, "result": {"authMethods": [{"id": each} for each in ways]}})
    return talk, opened["id"]


def test_an_agent_that_wants_to_know_its_user_is_given_the_played_key() -> None:
    talk, number = opening("sign-in", "openai-api-key")
    (asked,) = talk.take({"id": number, "error": UNKNOWN})
    assert (asked["method"], asked["params"]) == ("authenticate", {"methodId": "openai-api-key"})
    (opened,) = talk.take({"id": asked["id"], "result": {}})
    assert opened["method"] == "session/new"
    assert talk.take({"id": opened["id"], "error": UNKNOWN}) == []
    assert talk.refusal.startswith("it refused session/new: Authentication required")


def test_an_agent_that_only_signs_in_on_a_page_is_not_asked() -> None:
    talk, number = opening("sign-in", "subscription")
    assert talk.take({"id": number, "error": UNKNOWN}) == []
    wanted = "it refused session/new: Authentication required; it knows its users by sign-in,"
    assert talk.refusal == f"{wanted} subscription"


@pytest.mark.parametrize("ways", [7, None, ["x"], [{"id": 7}, {}], {"id": "key"}])
def test_odd_ways_to_know_a_user_are_none(ways: Any) -> None:
    talk = conversation("acp")
    talk.ask({"prompt": []})
    (opened,) = talk.take({"id": 0, "result": {"authMethods": ways}})
    assert talk.take({"id": opened["id"], "error": UNKNOWN}) == []
    assert talk.refusal == "it refused session/new: Authentication required"


def test_a_session_needs_an_id() -> None:
    talk = conversation("acp")
    talk.ask({"prompt": []})
    talk.take({"id": 0, "result": {}})
    assert talk.take({"id": 1, "result": {"sessionId": 7}}) == []
    assert talk.refusal == "it opened a session without an id"


def asks_permission(talk: AgentConversation, *kinds: str) -> Any:
    options = [{"optionId": f"o-{kind}", "name": kind, "kind": kind} for kind in kinds]
    asked = {"id": 9, "method": "session/request_permission", "params": {"options": options}}
    (answer,) = talk.take(asked)
    assert answer["id"] == 9
    return answer["result"]["outcome"]


def test_permission_is_refused() -> None:
    talk = opened_acp()
    refused = {"outcome": "selected", "optionId": "o-reject_once"}
    assert asks_permission(talk, "allow_once", "reject_once", "reject_always") == refused
    assert asks_permission(talk, "allow_once") == {"outcome": "cancelled"}
    assert methods_of(talk.stop()) == [("session/cancel", {"sessionId": "s1"})]
    assert asks_permission(talk, "reject_once") == {"outcome": "cancelled"}


def test_what_a_client_does_not_offer_is_refused() -> None:
    talk = opened_acp()
    (answer,) = talk.take({"id": "a", "method": "fs/write_text_file", "params": {"path": "/x"}})
    assert answer["error"]["code"] == -32601
    assert (answer["id"], answer["jsonrpc"]) == ("a", "2.0")


def test_hostile_messages_are_read_without_a_fault() -> None:
    for protocol in ("acp", "codex.app-server"):
        talk = conversation(protocol)
        talk.ask({})
        for message in HOSTILE:
            talk.take(message)
        assert not talk.is_over


def test_a_thread_is_started_before_its_first_turn() -> None:
    talk = conversation("codex.app-server")
    (greeting,) = talk.ask({"input": [{"type": "text", "text": "Hi"}]})
    assert greeting["method"] == "initialize"
    ready, start = talk.take({"id": 0, "result": {}})
    assert methods_of([ready]) == [("initialized", {})]
    assert start["params"] == {"cwd": FOLDER, "sandbox": "read-only"}
    (turn,) = talk.take({"id": 1, "result": {"thread": {"id": "t1"}}})
    assert turn["params"]["threadId"] == "t1"
    talk.take({"id": 2, "result": {"turn": {"id": "u1"}}})
    assert methods_of(talk.stop()) == [("turn/interrupt", {"threadId": "t1", "turnId": "u1"})]
    talk.take({"method": "turn/completed", "params": {"turn": {"id": "u0"}}})
    assert not talk.is_over
    talk.take({"method": "turn/completed", "params": {"turn": {"id": "u1"}}})
    assert talk.is_over


def test_approvals_are_declined() -> None:
    talk = conversation("codex.app-server")
    asked = ("item/commandExecution/requestApproval", "execCommandApproval", "item/tool/call")
    answers = [talk.take({"id": 1, "method": method, "params": {}})[0] for method in asked]
    assert methods_of(answers)[:2] == [{"decision": "decline"}, {"decision": "denied"}]
    assert answers[2]["error"]["code"] == -32601


def test_words_carry_the_question_and_the_session() -> None:
    words = AGENTS["codex.exec"].words
    asked = words({"input": [{"type": "text", "text": "Hi"}]}, "m", FOLDER)
    assert (asked[0], asked[-1]) == ("exec", "Hi")
    resumed = words({"input": [{"type": "text", "text": "Hi"}], "thread_id": "t"}, "m", FOLDER)
    assert (resumed[:2], resumed[-2:]) == (("exec", "resume"), ("t", "Hi"))
    words = AGENTS["claude.stream-json"].words
    body = {"messages": [{"role": "user", "content": "Hi"}], "session_id": "s"}
    assert words(body, "m", FOLDER)[:2] == ("-p", "Hi")
    assert words(body, "m", FOLDER)[-5:] == ("--resume", "s", "--verbose", "--add-dir", FOLDER)
    words = AGENTS["opencode.run"].words
    asked = words({"input": [{"type": "text", "text": "-n?"}], "sessionID": "s"}, "m", FOLDER)
    assert asked[:3] == ("run", "--format", "json")
    assert asked[-6:] == ("--model", "played/m", "--session", "s", "--", "-n?")


@pytest.mark.parametrize("command", [["qwen"], ["/opt/bin/qwen.js"], ["npx", "qwen"]])
def test_qwen_code_is_asked_in_words_of_its_own(command: list[str]) -> None:
    form = AGENTS["claude.stream-json"]
    asked = form.words_after(command)({"messages": [{"content": "Hi"}]}, "m", FOLDER)
    assert asked[-2:] == ("--auth-type", "openai")
    assert "--verbose" not in asked
    assert form.words_after(["claude"]) is form.words


def test_opencode_is_given_a_model_and_homes_of_its_own() -> None:
    given = AGENTS["opencode.run"].environment("http://127.0.0.1:9", "m", pathlib.Path(FOLDER))
    settings = json.loads(given["OPENCODE_CONFIG_CONTENT"])
    (provider,) = settings["provider"].values()
    assert provider["options"]["baseURL"] == "http://127.0.0.1:9/v1"
    assert list(provider["models"]) == ["m"]
    assert set(settings["permission"].values()) == {"deny"}
    assert given["XDG_DATA_HOME"].startswith(FOLDER)
    assert AGENTS["codex.exec"].environment("http://127.0.0.1:9", "m", pathlib.Path(FOLDER)) == {}
