"""Each variant is a folder of its own, with the same weights under other markers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from reference_impl.model import folder
from reference_impl.model.markers import VARIANTS
from reference_impl.model.variants import WEIGHTS
from tests.training.corpus import sums

pytestmark = pytest.mark.slow

OTHERS = tuple(name for name in VARIANTS if name != "think")
THOUGHT = sums.reasoned(2, 2)
SAID = {
    "think": f"<think>{THOUGHT}</think>2 + 2 = 4.",
    "bracket": f"[THINK]{THOUGHT}[/THINK]2 + 2 = 4.",
    "plain": f"Working: {THOUGHT}\nAnswer: 2 + 2 = 4.",
    "prompt-opened": f"{THOUGHT}</think>2 + 2 = 4.",
}
# What is left when special tokens are left out, as most servers do.
SHOWN = {**SAID, "bracket": f"{THOUGHT}2 + 2 = 4."}


def answer_of(place: Path, *, skip_special_tokens: bool, **options: Any) -> str:
    """What the model says to one question, as a stranger would load and ask it."""
    tokenizer: Any = AutoTokenizer.from_pretrained(place)
    model: Any = AutoModelForCausalLM.from_pretrained(place, dtype=torch.float32)
    asked = tokenizer.apply_chat_template(
        [{"role": "user", "content": "What is 2 + 2?"}],
        add_generation_prompt=True,
        return_tensors="pt",
        return_dict=True,
        **options,
    )
    made = model.generate(**asked, max_new_tokens=60)[0, asked["input_ids"].shape[1] :]
    text = tokenizer.decode(made, skip_special_tokens=skip_special_tokens)
    assert isinstance(text, str)
    return text


@pytest.mark.parametrize("variant", VARIANTS)
def test_variant_thinks_between_its_markers(variant: str, tmp_path: Path) -> None:
    place = folder(variant, under=tmp_path)
    assert answer_of(place, skip_special_tokens=False) == f"{SAID[variant]}<|im_end|>"
    assert answer_of(place, skip_special_tokens=True) == SHOWN[variant]


@pytest.mark.parametrize("variant", VARIANTS)
def test_variant_answers_without_thinking(variant: str, tmp_path: Path) -> None:
    place = folder(variant, under=tmp_path)
    assert answer_of(place, skip_special_tokens=True, enable_thinking=False) == "2 + 2 = 4."


@pytest.mark.parametrize("variant", VARIANTS)
def test_markers_are_single_tokens_of_the_same_ids(variant: str, tmp_path: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(folder(variant, under=tmp_path))
    shipped = AutoTokenizer.from_pretrained(WEIGHTS)
    markers = VARIANTS[variant]
    assert tokenizer(markers.opener + markers.closer) == shipped("<think></think>")
    assert len(tokenizer) == len(shipped)


@pytest.mark.parametrize("variant", OTHERS)
def test_a_variant_is_written_once(variant: str, tmp_path: Path) -> None:
    first = folder(variant, under=tmp_path)
    before = {path: path.stat().st_mtime_ns for path in first.iterdir()}
    assert folder(variant, under=tmp_path) == first
    assert {path: path.stat().st_mtime_ns for path in first.iterdir()} == before
    assert [path.name for path in tmp_path.iterdir()] == [first.name]


def test_variants_go_to_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert folder("bracket").is_relative_to(tmp_path)


def test_unknown_variant_is_named() -> None:
    with pytest.raises(ValueError, match="no variant 'brackets'; there are think, bracket"):
        folder("brackets")


def test_command_writes_a_folder(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "reference_impl.model.variants",
        "bracket",
        str(tmp_path / "b"),
    ]
    subprocess.run(command, check=True, cwd=Path(__file__).parents[2])
    assert {path.name for path in (tmp_path / "b").iterdir()} == {
        path.name for path in WEIGHTS.iterdir()
    }


def test_shipped_folder_is_under_a_megabyte() -> None:
    assert sum(path.stat().st_size for path in WEIGHTS.iterdir()) < 1_000_000
