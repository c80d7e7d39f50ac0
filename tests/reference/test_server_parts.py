"""The small parts below the APIs: seals, levels, paragraphs, memory, frames, options."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference_impl.server.__main__ import main, write_port
from reference_impl.server.defects import DEFECTS, Scene, hooked
from reference_impl.server.effort import BUDGETS, Effort, effort, leaving_room
from reference_impl.server.options import parse
from reference_impl.server.refusal import Refusal
from reference_impl.server.responses_items import Paragraphs
from reference_impl.server.sealing import BrokenSeal, Seal
from reference_impl.server.service import Memory
from reference_impl.server.settings import Settings
from reference_impl.server.wire import DONE, Wire, framed

SEAL = Seal(b"key", "reasoning")
Texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)


@given(Texts)
def test_sealed_text_opens(text: str) -> None:
    assert SEAL.open(SEAL.seal(text)) == text


@given(Texts, st.data())
def test_any_other_character_breaks_the_seal(text: str, data: st.DataObject) -> None:
    sealed = SEAL.seal(text)
    at = data.draw(st.integers(0, len(sealed) - 1))
    other = data.draw(st.characters().filter(lambda char: char != sealed[at]))
    with pytest.raises(BrokenSeal):
        SEAL.open(sealed[:at] + other + sealed[at + 1 :])


@given(st.text(max_size=100))
def test_what_was_never_sealed_does_not_open(data: str) -> None:
    with pytest.raises(BrokenSeal):
        SEAL.open(data)


def test_seal_is_for_one_key_and_one_purpose() -> None:
    for other in (Seal(b"other", "reasoning"), Seal(b"key", "signature")):
        with pytest.raises(BrokenSeal):
            other.open(SEAL.seal("2 plus 2"))


def test_seal_hides_the_text_and_differs_each_time() -> None:
    one, other = SEAL.seal("2 plus 2"), SEAL.seal("2 plus 2")
    assert one != other
    assert re.fullmatch(r"[A-Za-z0-9_=-]+", one)


def test_levels_think_longer_and_longer() -> None:
    budgets = [budget for budget in BUDGETS.values() if budget is not None]
    assert budgets == sorted(budgets)
    assert effort("none", "p") == Effort(thinks=False)
    assert effort(None, "p") == effort("max", "p") == Effort()
    with pytest.raises(Refusal, match="unknown effort 'HIGH'"):
        effort("HIGH", "p")


@given(st.none() | st.integers(0, 64), st.none() | st.integers(1, 64))
def test_hidden_thinking_leaves_room_for_an_answer(budget: int | None, most: int | None) -> None:
    left = leaving_room(Effort(budget=budget), most)
    if most is None:
        assert left.budget == budget
    elif left.thinks:
        assert left.budget is not None
        assert left.budget + 2 < most  # two markers, and at least one token of the answer
        assert budget is None or left.budget <= budget


def test_no_thinking_stays_no_thinking() -> None:
    assert leaving_room(Effort(thinks=False), 100) == Effort(thinks=False)


@given(st.text("ab \n", max_size=30), st.data())
def test_paragraphs_are_the_same_however_text_is_cut(text: str, data: st.DataObject) -> None:
    paragraphs = Paragraphs()
    found: dict[int, str] = {}
    rest = text
    while rest:
        size = data.draw(st.integers(1, len(rest)))
        for number, piece in paragraphs.feed(rest[:size]):
            found[number] = found.get(number, "") + piece
        rest = rest[size:]
    begun = re.sub(r"\A( *\n)+", "", text) if text.strip() else ""
    expected = re.split(r"\n(?: *\n)+", re.sub(r"\n[ \n]*\Z", "", begun))
    assert found == (dict(enumerate(expected)) if begun else {})


def test_memory_lets_go_of_the_oldest() -> None:
    memory = Memory(most=2)
    for name in "abc":
        memory.keep(name, ({"role": "user", "content": name},))
    assert memory.recall("c")[0]["content"] == "c"
    with pytest.raises(Refusal, match="'a' not found"):
        memory.recall("a")


def test_memory_is_bounded_in_bytes() -> None:
    memory = Memory(most_bytes=100)
    memory.keep("small", ({"content": "x" * 40},))
    memory.keep("large", ({"content": "x" * 80},))
    with pytest.raises(Refusal):
        memory.recall("small")
    memory.keep("huge", ({"content": "x" * 200},))
    with pytest.raises(Refusal):
        memory.recall("huge")
    memory.keep("small", ({"content": "x"},))
    assert memory.recall("small")


def test_memory_counts_what_is_kept_twice_once() -> None:
    memory = Memory(most_bytes=100)
    for _ in range(10):
        memory.keep("same", ({"content": "x" * 40},))
    memory.keep("other", ({"content": "x"},))
    assert memory.recall("same")


@given(st.recursive(st.text(), st.lists, max_leaves=5))
def test_frame_is_one_event_of_valid_json(value: Any) -> None:
    frame = framed(Wire({"a": value}, "name"))
    event, data, *rest = frame.split(b"\n")
    assert (event, rest) == (b"event: name", [b"", b""])
    assert json.loads(data.removeprefix(b"data: ")) == {"a": value}


def test_frame_without_an_event_line() -> None:
    assert framed(Wire(DONE)) == b"data: [DONE]\n\n"


def test_port_file_is_written_whole(tmp_path: Path) -> None:
    path = tmp_path / "port"
    write_port(path, 41873)
    assert path.read_text() == "41873\n"
    assert list(tmp_path.iterdir()) == [path]


def test_options_become_settings() -> None:
    options = parse(["--chat-reasoning", "wrap", "--include-thinking-field", "show", "--port", "0"])
    assert options.settings == Settings(
        model_name="tiny-think", chat_reasoning="wrap", include_field="show"
    )
    assert (options.host, options.port, options.defect) == ("127.0.0.1", 0, None)


def test_defect_is_chosen_by_name() -> None:
    assert parse(["--defect", "no-done"]).defect is DEFECTS["no-done"]


def test_empty_folder_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--model", str(tmp_path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ")


def test_key_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVER_KEY", "secret")
    assert parse(["--api-key-env", "SERVER_KEY"]).settings.api_key == "secret"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--port", "65536"],
        ["--port", "x"],
        ["--max-batch", "0"],
        ["--step-delay", "nan"],
        ["--step-delay", "-1"],
        ["--model", "no/such/folder"],
        ["--variant", "loud"],
        ["--api-key-env", "NO_SUCH_VARIABLE"],
        ["--include-thinking-header", "a", "--include-thinking-field", "b"],
        ["--summary-carrier", "pigeon"],
    ],
)
def test_wrong_argument_is_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(arguments)
    assert ended.value.code == 2
    assert "error: " in capsys.readouterr().err


async def _numbers(closed: list[str]) -> Any:
    try:
        for number in range(3):
            yield number
    finally:
        closed.append("source")


async def test_closing_a_hooked_source_closes_it() -> None:
    closed: list[str] = []
    items = hooked(_numbers(closed), lambda source, _: source, Scene("chat"))
    assert await anext(items) == 0
    await items.aclose()
    assert closed == ["source"]
