"""What is asked of a model, before any API's spelling of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from reference_impl.client.policy import Policy, sends
from reference_impl.client.turn import Turn


@dataclass(frozen=True, slots=True)
class Ask:
    """A conversation and how it is to go on.

    `effort` is one of effort.LEVELS, `summary` one of effort.SUMMARIES, `none`, or None: as the
    effort wants it. `tools` are in the form of Chat Completions. `sampling` goes into the request
    as it is.
    """

    model: str
    turns: tuple[Turn, ...]
    effort: str = "off"
    summary: str | None = None
    tools: tuple[Mapping[str, Any], ...] = ()
    history: Policy = "send-back"
    include_thinking: bool = False
    max_tokens: int | None = None
    sampling: Mapping[str, Any] = field(default_factory=dict)

    @property
    def sends_thinking(self) -> bool:
        """Whether earlier thinking goes along."""
        return sends(self.history, self.model)
