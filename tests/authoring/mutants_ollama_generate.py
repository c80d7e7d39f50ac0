"""Mutants of the suites of Ollama's completions."""

from __future__ import annotations

from typing import Final

from tests.authoring import edits
from tests.authoring.edits import having
from tests.authoring.mutant import Mutant
from tests.authoring.ollama_generate_streams import line

OFF: Final = "ollama.generate/ollama/thinking-off"

SPOKEN: Final = having("response")

MUTANTS: Final = (
    Mutant(
        "effort/ollama/false-means-none",
        OFF,
        (edits.insert(line(thinking="Plums have pectin."), SPOKEN),),
        name="effort/ollama/false-means-none-generated",
    ),
)
