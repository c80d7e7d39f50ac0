"""Which tokens a model puts around its thinking."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema_rs import validator_for

from conformance.cli import main
from conformance.core.errors import UsageError
from conformance.profiles.load import load_profile
from conformance.profiles.tokenizer_markers import MarkerPair, Token, find, pairs
from reference_impl.model import markers as reference
from reference_impl.model import variants

SCHEMA = Path(__file__).parent.parent.parent / "conformance" / "schemas" / "markers.schema.json"


def tokens(*texts: str) -> list[Token]:
    return [Token(number, text) for number, text in enumerate(texts, 10)]


def texts(*added: str) -> list[tuple[str, str]]:
    return [(pair.open.text, pair.close.text) for pair in pairs(tokens(*added))]


PAIRS = [
    ("<think>", "</think>"),
    ("[THINK]", "[/THINK]"),
    ("<Thought>", "</Thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("<|think|>", "<|/think|>"),
    ("◁think▷", "◁/think▷"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|thinking_start|>", "<|thinking_end|>"),
    ("<begin_of_thought>", "<end_of_thought>"),
]


@pytest.mark.parametrize(("opener", "closer"), PAIRS)
def test_a_pair_is_found_in_any_order(opener: str, closer: str) -> None:
    assert texts("<s>", opener, closer) == [(opener, closer)]
    assert texts(closer, "<s>", opener) == [(opener, closer)]


NONE = [
    ("<think>",),
    ("</think>", "</s>"),
    ("<think>", "[/think]"),
    ("<Think>", "</think>"),
    ("<reasonable>", "</reasonable>"),
    ("<rethink>", "</rethink>"),
    ("think", "/think"),
    ("<tool_call>", "</tool_call>"),
    ("<think" + "k" * 80 + ">", "</think" + "k" * 80 + ">"),
    ("<", ">", "", "[", "<>", "[]", "<|", "|>", "<|>", "◁"),
]


@pytest.mark.parametrize("added", NONE)
def test_anything_else_is_no_pair(added: tuple[str, ...]) -> None:
    assert texts(*added) == []


def test_of_several_pairs_the_one_that_was_added_first_comes_first() -> None:
    added = [
        Token(30, "<think>"),
        Token(31, "</think>"),
        Token(40, "[/THINK]"),
        Token(8, "[THINK]"),
    ]
    assert [pair.open.id for pair in pairs(added)] == [8, 30]


def test_a_token_that_is_there_twice_has_its_first_id() -> None:
    [pair] = pairs([*tokens("<think>", "</think>"), Token(3, "<think>")])
    assert pair == MarkerPair(Token(3, "<think>"), Token(11, "</think>"))


def test_pairs_are_bounded() -> None:
    many = [f"{slash}think{n}>" for n in range(1000) for slash in ("<", "</")]
    assert len(texts(*many)) == 64


@pytest.mark.parametrize("variant", reference.VARIANTS)
def test_the_reference_model_is_read_as_its_markers_say(variant: str, tmp_path: Path) -> None:
    expected = reference.VARIANTS[variant]
    found = find(variants.folder(variant, under=tmp_path))
    if not expected.opener.startswith(("<", "[")):
        assert found.pairs == ()
        return
    [pair] = found.pairs
    assert (pair.open.text, pair.close.text) == (expected.opener, expected.closer)
    assert pair.open.special == expected.is_special
    assert pair.close.id == pair.open.id + 1


def added(*contents: str) -> list[dict[str, Any]]:
    return [{"id": n, "content": text, "special": False} for n, text in enumerate(contents)]


def written(folder: Path, name: str, value: Any) -> Path:
    path = folder / name
    path.write_bytes(value if isinstance(value, bytes) else json.dumps(value).encode())
    return path


SHAPES: list[tuple[str, Any]] = [
    (
        "tokenizer.json",
        {"version": "1.0", "model": {}, "added_tokens": added("<think>", "</think>")},
    ),
    (
        "tokenizer_config.json",
        {"added_tokens_decoder": {"0": {"content": "<think>"}, "1": {"content": "</think>"}}},
    ),
    ("added_tokens.json", {"<think>": 0, "</think>": 1}),
]


@pytest.mark.parametrize(("name", "value"), SHAPES)
def test_every_file_of_a_model_is_read(name: str, value: Any, tmp_path: Path) -> None:
    path = written(tmp_path, name, value)
    assert find(path).pairs == (MarkerPair(Token(0, "<think>"), Token(1, "</think>")),)
    assert find(tmp_path).file == path


def test_a_folder_is_read_from_the_file_that_says_most(tmp_path: Path) -> None:
    written(tmp_path, "added_tokens.json", {"<think>": 0, "</think>": 1})
    written(tmp_path, "tokenizer_config.json", {"eos_token": "</s>"})
    assert len(find(tmp_path).pairs) == 1
    written(tmp_path, "tokenizer.json", {"added_tokens": []})
    assert find(tmp_path).pairs == ()


BAD: list[tuple[str, Any, str]] = [
    ("tokenizer.json", b"{", "no tokenizer: Input data was truncated"),
    ("tokenizer.json", b"[" * 100_000, "no tokenizer: "),
    ("tokenizer.json", b'{"model": ' + b"[" * 100_000, "no tokenizer: nested too deeply"),
    ("tokenizer.json", b'{"added_tokens": [{"content": "\xff"}]}', "no tokenizer: "),
    ("tokenizer.json", {"added_tokens": [{"id": "x", "content": "a"}]}, r"added_tokens\[0\]\.id"),
    ("tokenizer.json", {"added_tokens": {"<think>": 1}}, "Expected `array | null`, got `object`"),
    ("tokenizer.json", {"model": {}}, "states no added tokens"),
    ("tokenizer_config.json", {"added_tokens_decoder": {"x": {"content": "a"}}}, "no tokenizer: "),
    ("added_tokens.json", ["<think>"], "Expected `object`, got `array`"),
]


@pytest.mark.parametrize(("name", "value", "message"), BAD)
def test_bad_file_is_one_line(name: str, value: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        find(written(tmp_path, name, value))
    assert str(caught.value).startswith(str(tmp_path / name))
    assert "\n" not in str(caught.value)


def test_file_has_a_size_that_it_may_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.profiles.tokenizer_markers._MAX_BYTES", 1000)
    with pytest.raises(UsageError, match="holds more than 1,000 bytes"):
        find(written(tmp_path, "tokenizer.json", b" " * 1001))


@pytest.mark.parametrize(
    ("path", "message"),
    [("none", "no such file or folder"), (".", "holds no tokenizer"), ("/dev/zero", "expected a")],
)
def test_a_path_that_is_no_tokenizer_exits_2(
    path: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["markers", str(tmp_path / path)]) == 2
    assert message in capsys.readouterr().err


def shown(path: Path, capsys: pytest.CaptureFixture[str], *options: str) -> str:
    assert main(["markers", str(path), *options]) == 0
    return capsys.readouterr().out


TWO = [*added("[THINK]", "[/THINK]", "<think>"), {"id": 9, "content": "</think>", "special": True}]


def test_markers_have_ids_and_reasons(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, "tokenizer.json", {"added_tokens": TWO})
    *lines, profile = shown(path, capsys).splitlines()
    assert lines == [
        f"[THINK] 0 [/THINK] 1 ({path})",
        "  also     <think> 2 </think> 9",
        "  why      of several pairs the one that was added first counts: it has the lowest id",
    ]
    assert profile.startswith('  profile  knobs: {markers: {value: [["[THINK]", "[/THINK]"]],')


def test_the_line_for_a_profile_is_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, "tokenizer.json", {"added_tokens": TWO})
    line = shown(path, capsys).splitlines()[-1].removeprefix("  profile  ")
    profile = tmp_path / "mine.yaml"
    profile.write_text(f"profile: mine\ndialect: openai.chat\nextends: strict\n{line}\n")
    assert load_profile(profile).knobs["markers"] == [["[THINK]", "[/THINK]"]]


def test_special_tokens_are_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, "tokenizer.json", {"added_tokens": TWO[2:]})
    assert "they are special tokens" in shown(path, capsys)


def test_no_pair_passes_through(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, "tokenizer.json", {"added_tokens": added("<s>", "</s>")})
    assert shown(path, capsys) == f"none: passes through ({path})\n"
    assert json.loads(shown(path, capsys, "--format", "json"))["pair"] is None


@pytest.mark.parametrize("contents", [TWO, TWO[2:], []])
def test_the_document_fits_its_schema(
    contents: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, "tokenizer.json", {"added_tokens": contents})
    document = json.loads(shown(path, capsys, "--format", "json"))
    assert validator_for(json.loads(SCHEMA.read_text())).is_valid(document)
    assert len(document["others"]) == max(0, len(contents) // 2 - 1)


def test_control_codes_are_not_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(
        tmp_path, "tokenizer.json", {"added_tokens": added("<think\x1b[31m>", "</think\x1b[31m>")}
    )
    assert "\x1b" not in shown(path, capsys)


def test_a_format_that_is_none_exits_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["markers", str(tmp_path), "--format", "yaml"]) == 2
    assert "format must be text or json" in capsys.readouterr().err
