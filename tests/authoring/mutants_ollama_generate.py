"""Mutants of the suites of Ollama's completions."""

from __future__ import annotations

from typing import Final

from tests.authoring import edits
from tests.authoring.edits import having
from tests.authoring.mutant import Mutant
from tests.authoring.ollama_generate_streams import line

TEXT: Final = "ollama.generate/ollama/thinking-then-text"
OFF: Final = "ollama.generate/ollama/thinking-off"
SUITE: Final = "wire/ollama-generate"

THOUGHT: Final = having("thinking")
SPOKEN: Final = having("response")
DONE: Final = having("done")

MUTANTS: Final = (
    Mutant(f"{SUITE}/carries", TEXT, (edits.change(SPOKEN, "thinkin", "So, sugar."),)),
    Mutant(f"{SUITE}/response-is-text", TEXT, (edits.remove(THOUGHT, "response"),)),
    Mutant(
        f"{SUITE}/thinking-is-text", TEXT, (edits.change(THOUGHT, "thinking", lambda said: [said]),)
    ),
    Mutant(f"{SUITE}/thinking-filled", TEXT, (edits.change(SPOKEN, "thinking", ""),)),
    Mutant(
        f"{SUITE}/thinking-or-response", TEXT, (edits.change(SPOKEN, "thinking", "So, sugar."),)
    ),
    Mutant(f"{SUITE}/context-is-tokens", TEXT, (edits.change(DONE, "context", "plum jam"),)),
    Mutant(f"{SUITE}/context-at-end", TEXT, (edits.change(SPOKEN, "context", [151644]),)),
    Mutant(
        "effort/ollama/false-means-none",
        OFF,
        (edits.insert(line(thinking="Plums have pectin."), SPOKEN),),
        name="effort/ollama/false-means-none-generated",
    ),
    Mutant(
        "wire/ollama/done-present",
        TEXT,
        (edits.drop(DONE),),
        name="wire/ollama/done-present-generated",
    ),
)
