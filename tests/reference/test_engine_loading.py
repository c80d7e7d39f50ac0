from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("torch")

from reference_impl.server.engine import Engine, EngineError
from reference_impl.server.engine.markers import Markers
from reference_impl.server.engine.prompting import Render, opens_thinking
from tests.reference.engine_models import (
    CHAT,
    THINK,
    TOOL,
    byte_level,
    qwen3,
    save_model,
    save_tokenizer,
)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_model(tmp_path_factory.mktemp("models") / "random")


def with_markers(folder: Path, *markers: str, special: bool = False) -> Path:
    tokenizer = byte_level(markers, special=special)
    save_tokenizer(tokenizer, folder)
    qwen3(tokenizer.get_vocab_size()).save_pretrained(folder)
    return folder


def test_loaded_engine_tells_what_it_is(folder: Path) -> None:
    engine = Engine.load(folder, device="cpu")
    vocabulary = engine._prompter.vocabulary
    assert (engine.model_id, engine.context) == ("random", 512)
    assert engine.markers is not None
    assert (engine.markers.open, engine.markers.close) == THINK
    assert vocabulary.tools is not None
    assert vocabulary.tools.open == TOOL[0]
    ids = byte_level().get_vocab()
    assert vocabulary.ends == {ids[CHAT[1]]}
    assert vocabulary.silent == {ids[CHAT[0]]}
    assert engine.idle
    engine.close()


@pytest.mark.parametrize(("context", "known"), [(100, 100), (10**9, 512), (None, 512)])
def test_context_is_bounded_by_the_model(folder: Path, context: int | None, known: int) -> None:
    engine = Engine.load(folder, context=context, device="cpu")
    assert engine.context == known
    engine.close()


@pytest.mark.parametrize("special", [True, False])
def test_markers_may_be_special_tokens(tmp_path: Path, special: bool) -> None:
    engine = Engine.load(with_markers(tmp_path, "[THINK]", "[/THINK]", special=special))
    assert engine.markers is not None
    assert engine.markers.open == "[THINK]"
    engine.close()


def test_tokenizer_without_markers_has_none(tmp_path: Path) -> None:
    engine = Engine.load(with_markers(tmp_path))
    assert engine.markers is None
    engine.close()


def test_named_markers_win(folder: Path) -> None:
    engine = Engine.load(folder, think_markers=TOOL)
    assert engine.markers is not None
    assert engine.markers.open == TOOL[0]
    engine.close()


def test_named_marker_that_is_no_token_is_an_error(folder: Path) -> None:
    with pytest.raises(EngineError, match="'<x>' is no single token"):
        Engine.load(folder, think_markers=("<x>", "</x>"))


def test_truncation_in_a_tokenizer_file_does_not_cut_prompts(tmp_path: Path) -> None:
    save_model(tmp_path)
    file = tmp_path / "tokenizer.json"
    content = json.loads(file.read_text())
    content["truncation"] = {
        "max_length": 8,
        "stride": 0,
        "strategy": "LongestFirst",
        "direction": "Right",
    }
    file.write_text(json.dumps(content))
    engine = Engine.load(tmp_path, device="cpu")
    assert len(engine.prompt([{"role": "user", "content": "a" * 100}]).ids) > 100
    engine.close()


def remove_template(folder: Path) -> None:
    (folder / "chat_template.jinja").unlink()


def break_config(folder: Path) -> None:
    (folder / "config.json").write_text('{"model_type": "no such type"}')


def empty_weights(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"")


def remove_tokenizer(folder: Path) -> None:
    for file in folder.glob("tokenizer*"):
        file.unlink()


@pytest.mark.parametrize("spoil", [remove_template, break_config, empty_weights, remove_tokenizer])
def test_spoiled_folder_is_one_line_of_error(tmp_path: Path, spoil: object) -> None:
    save_model(tmp_path)
    assert callable(spoil)
    spoil(tmp_path)
    with pytest.raises(EngineError) as caught:
        Engine.load(tmp_path)
    assert str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="no such folder"):
        Engine.load(tmp_path / "none")


def test_batch_of_nothing_is_an_error(folder: Path) -> None:
    with pytest.raises(EngineError, match="max_batch"):
        Engine.load(folder, max_batch=0)


TOKENIZER = byte_level()
MARKERS = Markers(*THINK, *(TOKENIZER.get_vocab()[token] for token in THINK))


def encode(text: str) -> list[int]:
    return list(TOKENIZER.encode(text, add_special_tokens=False).ids)


def template(conversation: str, beginning: str) -> Render:
    return lambda begin: conversation + (beginning if begin else "")


@pytest.mark.parametrize(
    ("beginning", "opened"),
    [
        ("assistant\n<think>\n", True),
        ("assistant\n<think>", True),
        ("assistant\n<think>\n\n</think>\n\n", False),
        ("assistant\n<think></think><think>", True),
        ("assistant\n", False),
        ("", False),
        ("</think>", False),
    ],
)
@pytest.mark.parametrize("user", ["hi", "say <think>", "<think>a</think>", "</think>"])
def test_last_marker_of_the_beginning_counts(user: str, beginning: str, opened: bool) -> None:
    assert opens_thinking(encode, MARKERS, template(user, beginning)) is opened


def test_without_markers_nothing_opens() -> None:
    assert not opens_thinking(encode, None, template("hi", "<think>"))


def test_next_conversation_is_asked_where_the_first_does_not_show_the_beginning() -> None:
    def uneven(begin: bool) -> str:
        return "shortened <think>" if begin else "whole history"

    assert opens_thinking(encode, MARKERS, uneven, template("a", "<think>"))
    assert not opens_thinking(encode, MARKERS, uneven, uneven)
