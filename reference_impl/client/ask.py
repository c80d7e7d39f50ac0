"""What is asked of a model, before any API's spelling of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from .likeness import REFERENCE, Likeness
from .policy import Policy, sends
from .turn import Turn
from .wire import Api


@dataclass(frozen=True, slots=True)
class Ask:
    """A conversation and how it is to go on.

    `effort` is one of likeness.LEVELS, `summary` one of likeness.SUMMARIES, `none`, or None: as the
    client has it. `tools` are in the form of Chat Completions. `history` is None where the client
    decides. `sampling` goes into the request as it is.
    """

    model: str
    turns: tuple[Turn, ...]
    effort: str = "off"
    summary: str | None = None
    tools: tuple[Mapping[str, Any], ...] = ()
    history: Policy | None = None
    include_thinking: bool = False
    max_tokens: int | None = None
    sampling: Mapping[str, Any] = field(default_factory=dict)
    like: Likeness = REFERENCE

    @property
    def instructions(self) -> str:
        """What the system says, for APIs that have a field for it."""
        return "\n\n".join(turn.text for turn in self.turns if turn.role == "system")

    def rounds(self) -> Iterator[tuple[bool, Iterator[Turn]]]:
        """The turns but those of the system, results of tools together: `True` for such."""
        turns = (turn for turn in self.turns if turn.role != "system")
        return groupby(turns, key=lambda turn: turn.role == "tool")

    def sampled(self, names: Mapping[str, str]) -> dict[str, Any]:
        """The sampling as an API calls it; a lone stop string is a list of one."""
        given = {**self.sampling}
        if isinstance(given.get("stop"), str):
            given["stop"] = [given["stop"]]
        return {names.get(name, name): value for name, value in given.items()}

    @property
    def thinks(self) -> bool:
        """Whether the model is asked to think."""
        return self.effort != "off" and self.like.takes_effort(self.model)

    def sends_thinking(self, api: Api) -> bool:
        """Whether earlier thinking goes along."""
        policy = self.history or self.like.history[api]
        return sends(policy, self.model, self.like.history_models)
