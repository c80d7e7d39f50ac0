"""The client with another client's choices: what it says of itself, tells, sends and keeps."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from conformance.profiles.lookup import available, find
from conformance.rules.patterns import regex
from reference_impl.client.__main__ import main
from reference_impl.client.ask import Options, UnknownOption
from reference_impl.client.defects import DEFECTS, HONEST, Defect
from reference_impl.client.event import TYPES, Event
from reference_impl.client.harness import Harness
from reference_impl.client.likeness import LIKENESSES, REFERENCE, Likeness, sends
from reference_impl.client.record import record_of, turn_of
from reference_impl.client.reporting import reports
from reference_impl.client.turn import Called, Thought, Turn, Words
from tests.each import each
from tests.reference.client_server import Script, playing

OPAL, OPAL_EARLIER, OPENHANDS_DOCUMENT, OPENHANDS_SDK = LIKENESSES.values()
ROOT = Path(__file__).parent.parent.parent
ANSWER = Script(
    (
        b'data: {"choices":[{"index":0,"delta":{"reasoning_content":"Hm."}}]}\n\n',
        b'data: {"choices":[{"index":0,"delta":{"content":"4."},"finish_reason":"stop"}]}\n\n',
        b"data: [DONE]\n\n",
    )
)
# Names that the patterns of the presets tell apart.
MODELS = (
    *("m", "gpt-5", "GPT-5.2", "gpt-4o", "gpt-4.1", "oswe-vscode", "o3", "o4-mini", "openai/o3"),
    *("claude-sonnet-4", "claude-opus-4.6", "claude-haiku-4.5", "claude-haiku-4-5"),
    *("anthropic/claude-sonnet-4-5", "claude-3-7-sonnet", "gemini-2.5-pro", "gemini-1.5-pro"),
    *("deepseek/deepseek-reasoner", "deepseek/deepseek-chat", "deepseek/deepseek-v4-flash"),
    *("moonshot/kimi-k2-thinking", "kimi-k2.6", "kimi-k3", "kimi-k2", "openrouter/minimax-m2"),
    *("minimax-m2", "qwen3"),
)


def spoken(like: Likeness, *commands: Mapping[str, Any], defect: Defect = HONEST) -> list[Any]:
    """The answers of the harness to commands."""
    output = io.StringIO()
    Harness(output, defect, like).serve(map(json.dumps, commands))
    return [json.loads(line) for line in output.getvalue().splitlines()]


def streamed(like: Likeness, defect: Defect = HONEST) -> list[Any]:
    asked = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "options": {}}
    with playing(ANSWER) as played:
        about = {"dialect": "openai.chat", "base_url": played.base_url, "deadline_ms": 10_000}
        return spoken(like, {"cmd": "stream", "seq": "1", **about, **asked}, defect=defect)


# -- what it says of itself -----------------------------------------------------------------------


@pytest.mark.parametrize("like", LIKENESSES.values(), ids=LIKENESSES)
def test_it_says_whom_it_is_like(like: Likeness) -> None:
    about = spoken(like, {"cmd": "start", "version": 1})[0]["implementation"]
    assert about["name"] == f"reference-client like {like.name}"
    assert about["events"] == list(like.events)
    assert len(about["dialects"]) == len(like.apis)
    assert set(about["events"]) < set(TYPES)


def test_the_reference_says_so() -> None:
    about = spoken(REFERENCE, {"cmd": "start", "version": 1})[0]["implementation"]
    assert about["name"] == "reference-client"
    assert about["events"] == list(TYPES)


def test_ops_are_those_of_the_system() -> None:
    about = spoken(OPAL, {"cmd": "start", "version": 1})[0]["implementation"]
    assert "extract" not in about["ops"]
    refused = spoken(OPAL, {"cmd": "extract", "seq": "1", "message": {}})[0]
    assert refused["skipped"] == "unknown command 'extract'"


def test_an_api_that_the_system_does_not_speak_is_skipped() -> None:
    command = {"cmd": "next_request", "seq": "1", "dialect": "anthropic.messages"}
    assert "skipped" in spoken(OPENHANDS_DOCUMENT, command)[0]


@pytest.mark.parametrize("name", LIKENESSES)
def test_the_command_line_knows_them(name: str) -> None:
    command = [sys.executable, "-m", "reference_impl.client", "harness", "--like", name]
    start = json.dumps({"cmd": "start", "version": 1})
    done = subprocess.run(
        [*command, "--defect", "thinking-dropped"],
        cwd=ROOT,
        input=start,
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout)["implementation"]["name"].endswith(name)


# -- what it tells --------------------------------------------------------------------------------


def test_only_events_of_the_system_are_reported_and_the_end_is_known() -> None:
    *events, last = streamed(OPENHANDS_DOCUMENT)
    assert [line["event"]["type"] for line in events] == ["thinking.delta", "text.delta"]
    assert last["end"] == {"how": "completed"}


def test_a_defect_and_a_likeness_go_together() -> None:
    events = [line["event"]["type"] for line in streamed(OPAL, DEFECTS["thinking-start-twice"])[:3]]
    assert events == ["thinking.start", "thinking.start", "thinking.delta"]


def reported_events(like: Likeness, *events: Event) -> list[Event]:
    report = reports(like, HONEST)
    return [each for event in events for each in report(event)]


def start(block: int, *, explicit: bool = False, choice: int = 0) -> Event:
    data = {"block": block, "channel": "raw", "explicit": explicit}
    return Event("thinking.start", data, choice)


def delta(block: int, choice: int = 0) -> Event:
    return Event("thinking.delta", {"block": block, "channel": "raw", "text": "a"}, choice)


def test_thinking_that_resumes_goes_on_in_its_first_block() -> None:
    assert reported_events(OPAL, start(0), delta(0), start(2), delta(2)) == [
        start(0),
        delta(0),
        delta(0),
    ]
    assert reported_events(REFERENCE, start(0), start(2)) == [start(0), start(2)]


def test_thinking_that_is_announced_is_a_block_of_its_own() -> None:
    events = (start(0, explicit=True), delta(0), start(1, explicit=True), delta(1))
    assert reported_events(OPAL, *events) == list(events)


def test_every_choice_has_a_first_block() -> None:
    events = (start(0), start(0, choice=1), delta(0), delta(0, choice=1))
    assert reported_events(OPAL, *events) == list(events)


def test_a_message_waits_for_its_text() -> None:
    message, text = Event("message.start", {"role": "assistant"}), Event("text.start", {"block": 1})
    assert reported_events(OPAL, message, start(0), text) == [start(0), message, text]
    assert reported_events(OPAL, message, start(0)) == [start(0)]
    assert reported_events(REFERENCE, message, start(0)) == [message, start(0)]


# -- what it sends --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("like", "model", "level"),
    [
        (REFERENCE, "gpt-5", "off"),
        (OPAL, "gpt-5", "high"),
        (OPAL, "gpt-4o", "off"),
        (OPAL_EARLIER, "gpt-5", "off"),
        (OPENHANDS_DOCUMENT, "gpt-5", "off"),
        (OPENHANDS_SDK, "gpt-5", "high"),
    ],
)
def test_the_level_that_nobody_chose(like: Likeness, model: str, level: str) -> None:
    assert Options({}, like).ask(model, ()).effort == level


def test_off_is_offered_by_the_earlier_document_alone() -> None:
    off = {"effort": "off"}
    assert not Options(off, OPAL_EARLIER).ask("gpt-5", ()).thinks
    assert not Options(off, OPAL).ask("gpt-4o", ()).thinks
    with pytest.raises(UnknownOption, match="opal does not offer effort 'off' for gpt-5"):
        Options(off, OPAL).ask("gpt-5", ())


@pytest.mark.parametrize(
    ("like", "option", "value"),
    [
        (OPAL, "summary", "concise"),
        (OPAL, "include_thinking", True),
        (OPAL, "markers", [["<think>", "</think>"]]),
        (OPENHANDS_DOCUMENT, "effort", "low"),
        (OPENHANDS_SDK, "summary", "none"),
    ],
)
def test_what_a_system_does_not_offer_is_refused(like: Likeness, option: str, value: Any) -> None:
    with pytest.raises(UnknownOption, match=f"{like.name} does not offer {option}"):
        Options({option: value}, like)
    Options({option: value})


def test_a_history_policy_is_the_systems_own() -> None:
    assert Options({"history": "never"}, OPAL).ask("m", ()).sends_thinking("chat")
    assert not Options({"history": "never"}).ask("m", ()).sends_thinking("chat")


PROFILES = [(name, dialect) for name, dialect, _ in available() if name in LIKENESSES]


def test_every_likeness_has_a_profile_for_every_api_that_it_speaks() -> None:
    apis = {
        "openai.chat": "chat",
        "openai.responses": "responses",
        "anthropic.messages": "messages",
    }
    for name, like in LIKENESSES.items():
        spoken_by = {apis[dialect] for profile, dialect in PROFILES if profile == name}
        assert spoken_by == set(like.apis)


@each(PROFILES, MODELS)
def test_likeness_and_profile_tell_models_apart_the_same(side: tuple[str, str], model: str) -> None:
    name, dialect = side
    like, knobs = LIKENESSES[name], find(name, dialect).knobs
    assert regex(knobs["effort_models"])(model.lower()) == like.takes_effort(model)
    if "by-model" in like.history.values() and dialect == "openai.chat":
        is_sent = sends("by-model", model, like.history_models)
        assert regex(knobs["history_models"])(model.lower()) == is_sent


# -- what it keeps --------------------------------------------------------------------------------

KEPT = Turn("assistant", (Thought(raw="2 plus 2."), Words("4."), Called("c1", "f", "{}")))
SIGNED = Turn("assistant", (Thought(raw="2 plus 2.", signature="S"), Words("4.")))


@pytest.mark.parametrize("form", ["whole", "flat", "thinking", "message"])
def test_what_is_kept_can_be_restored(form: Any) -> None:
    assert turn_of(record_of(KEPT, form)) == KEPT


@pytest.mark.parametrize("form", ["whole", "message"])
def test_signed_thinking_is_kept_where_the_form_has_a_place(form: Any) -> None:
    assert turn_of(record_of(SIGNED, form)) == SIGNED


def test_redacted_thinking_is_kept_in_blocks() -> None:
    turn = Turn("assistant", (Thought(redacted="R"), Words("4.")))
    assert turn_of(record_of(turn, "message")) == turn


# -- as a command ---------------------------------------------------------------------------------


def chat(*more: str) -> tuple[int, list[Any]]:
    with playing(ANSWER) as played:
        code = main(["chat", "--url", played.base_url, *more, "What is 2 + 2?"])
        return code, [asked.json for asked in played.asked]


def test_chat_asks_as_the_system_does() -> None:
    code, (asked,) = chat("--like", "opal", "--model", "gpt-5")
    assert (code, asked["reasoning_effort"]) == (0, "high")
    code, (asked,) = chat("--model", "gpt-5")
    assert (code, "reasoning_effort" in asked) == (0, False)


def test_chat_keeps_what_the_system_keeps(tmp_path: Path) -> None:
    kept = tmp_path / "talk.jsonl"
    for _ in range(2):
        code, (asked,) = chat("--like", "opal", "--model", "gpt-5", "--store", str(kept))
        assert code == 0
    first = json.loads(kept.read_text(encoding="utf-8").splitlines()[1])
    assert first == {"role": "assistant", "content": "4.", "thinking": "Hm.", "tool_calls": []}
    assert asked["messages"][1]["reasoning_content"] == "Hm."


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--history", "never"), "opal has a history policy of its own"),
        (("--summary", "concise"), "opal does not offer summary 'concise'"),
        (("--effort", "off"), "opal does not offer effort 'off' for gpt-5"),
        (("--include-thinking",), "opal does not offer include_thinking True"),
    ],
)
def test_chat_refuses_what_the_system_does_not_offer(
    more: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert chat("--like", "opal", "--model", "gpt-5", *more) == (2, [])
    assert capsys.readouterr().err == f"error: {message}\n"


def test_chat_refuses_other_apis_of_a_system(
    capsys: pytest.CaptureFixture[str],
) -> None:
    more = ("--like", "openhands-document", "--model", "m", "--api", "messages")
    assert chat(*more) == (2, [])
    assert capsys.readouterr().err == "error: openhands-document does not speak messages\n"
