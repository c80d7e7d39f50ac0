"""How often the model says exactly what its corpus says: `python -m tests.training.measure`.

Greedy, in 32 bits, over examples of a seed that training does not use.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any, Final

import torch
from transformers import AutoTokenizer, Qwen3ForCausalLM
from transformers import PreTrainedTokenizerBase as Tokenizer

from reference_impl.model.variants import WEIGHTS
from tests.training import batches, corpus
from tests.training.corpus.mix import surrounded

SEED: Final = 1001
EACH: Final = 100  # examples of a kind and manner
ROWS: Final = 50  # in one call of the model
MOST_TOKENS: Final = 320  # of an answer
MANNERS: Final = ("thinking", "no thinking", "cut thinking")


@dataclass(frozen=True, slots=True)
class Trial:
    """What the model is given, and what it must say after that."""

    kind: str
    manner: str
    given: list[int]
    expected: list[int]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog=f"python -m {__package__}.measure")
    parser.add_argument("folder", type=Path, nargs="?", default=WEIGHTS)
    parser.add_argument("--each", type=int, default=EACH, help=f"examples a cell; default {EACH}")
    parser.add_argument("--misses", action="store_true", help="show what was wrong, on stderr")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    model, tokenizer = load(options.folder)
    given = list(trials(tokenizer, options.each))
    answered = answers(model, tokenizer, [trial.given for trial in given])
    if options.misses:
        _show_misses(tokenizer, given, answered)
    sys.stdout.write(table(given, answered))
    return 0


def load(folder: Path) -> tuple[Qwen3ForCausalLM, Tokenizer]:
    """Load the model in 32 bits, so that the machine's kind of half precision has no part."""
    model = Qwen3ForCausalLM.from_pretrained(folder, dtype=torch.float32)
    return model, AutoTokenizer.from_pretrained(folder)


def trials(
    tokenizer: Tokenizer, each: int, kinds: Iterable[str] = tuple(corpus.KINDS)
) -> Iterator[Trial]:
    """Give `each` trials of every kind in every manner."""
    for name in kinds:
        kind, _ = corpus.KINDS[name]
        random = Random(f"{SEED} {name}")
        for _ in range(each):
            example = surrounded(random, name, kind(random))
            kept = random.random()
            yield _trial_of_example(tokenizer, name, replace(example, thinks=True, kept=None))
            yield _trial_of_example(tokenizer, name, replace(example, thinks=False, kept=None))
            yield _trial_of_example(tokenizer, name, replace(example, thinks=True, kept=kept))


def _trial_of_example(tokenizer: Tokenizer, name: str, example: corpus.Example) -> Trial:
    row = batches.row(tokenizer, example)
    learnt_from = row.learnt.index(True)
    manner = MANNERS[1 if not example.thinks else 2 if example.kept is not None else 0]
    return Trial(name, manner, row.ids[:learnt_from], row.ids[learnt_from:])


def answers(
    model: Qwen3ForCausalLM, tokenizer: Tokenizer, prompts: Sequence[list[int]]
) -> list[list[int]]:
    """Give the greedy tokens after each prompt, with the end of turn, without padding."""
    order = sorted(range(len(prompts)), key=lambda at: len(prompts[at]))
    answered: list[list[int]] = [[] for _ in prompts]
    for start in range(0, len(order), ROWS):
        places = order[start : start + ROWS]
        made = _greedy_tokens(model, tokenizer, [prompts[at] for at in places])
        for at, ids in zip(places, made, strict=True):
            answered[at] = ids
    return answered


def _greedy_tokens(
    model: Qwen3ForCausalLM, tokenizer: Tokenizer, prompts: list[list[int]]
) -> Iterator[list[int]]:
    batch = tokenizer.pad({"input_ids": prompts}, padding_side="left", return_tensors="pt")
    width = batch["input_ids"].shape[1]
    # Releases of transformers type `self` of `generate` in ways that their own models do not fit.
    generating: Any = model
    made = generating.generate(**batch, max_new_tokens=MOST_TOKENS)
    for row in made[:, width:].tolist():
        end = row.index(tokenizer.eos_token_id) + 1 if tokenizer.eos_token_id in row else len(row)
        yield row[:end]


def table(given: Sequence[Trial], answered: Sequence[list[int]]) -> str:
    """Give the share of exact answers as Markdown, a line a kind."""
    lines = [f"| task | {' | '.join(MANNERS)} |", "|---|---|---|---|"]
    for kind in corpus.KINDS:
        cells = []
        for manner in MANNERS:
            right = [
                trial.expected == ids
                for trial, ids in zip(given, answered, strict=True)
                if (trial.kind, trial.manner) == (kind, manner)
            ]
            cells.append(f"{sum(right)}/{len(right)}")
        lines.append(f"| {kind} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _show_misses(tokenizer: Tokenizer, given: list[Trial], answered: list[list[int]]) -> None:
    for trial, ids in zip(given, answered, strict=True):
        if ids != trial.expected:
            shown = [str(tokenizer.decode(each)) for each in (trial.given, trial.expected, ids)]
            sys.stderr.write("\n".join((f"## {trial.kind}, {trial.manner}", *shown, "\n")))


if __name__ == "__main__":
    sys.exit(main())
