"""Runs of `codex exec` that keep the rules."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from tests.authoring.codex import command, failed, item, run
from tests.authoring.draft import Draft, output_draft

DIALECT: Final = "codex.exec"
LICHEN: Final = "**Looking at lichen**\n\nA lichen is a fungus with algae in it, so it is two."
LICHEN_TEXT: Final = "Two: a fungus, and algae."

drafted = partial(output_draft, dialect=DIALECT)


def drafts() -> Iterator[Draft]:
    thought = item(1, "reasoning", text=LICHEN)
    said = item(2, "agent_message", text=LICHEN_TEXT)
    yield drafted("codex/reasoning-then-message", run([thought, said]), sizes=(97, 3, 400))
    shown = run([thought, said])
    yield drafted("codex/reasoning-shown", shown, profile="shows-reasoning")

    listed = command(2, "ls moss", "fern\n")
    again = item(3, "reasoning", text="**Reading the list**\n\nThere is a fern.")
    answer = item(4, "agent_message", text="A fern.")
    yield drafted("codex/command-run", run([thought, *listed, again, answer]))
    more = item(2, "reasoning", text="**Checking the algae**\n\nMost lichens have only one kind.")
    both = item(3, "agent_message", text=LICHEN_TEXT)
    yield drafted("codex/two-thoughts", run([thought, more, both]))
    yield drafted("codex/turn-failed", run([thought], failed("The model is overloaded.")))
