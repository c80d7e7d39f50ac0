"""One generation as the engine's thread sees it: where to begin, how to choose, where to end."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable, Sequence
from random import Random

import torch
from torch import Tensor

from .events import Limits, Prompt, Reason
from .markers import Moves, Phase, Vocabulary

Outcome = Reason | Exception | None
"""How a generation ended with its token; None if it goes on."""


class Work:
    """Made in an event loop, advanced by the engine's thread.

    `on_token`, a method, is called in that event loop with each token and how it ended. It is held
    weakly, so that a generation nobody reads is noticed; `pinned` holds it while a reader waits.
    `cancelled` may be set by anyone at any time and is looked at before every step.
    """

    def __init__(
        self,
        prompt: Prompt,
        limits: Limits,
        *,
        room: int,
        vocabulary: Vocabulary,
        on_token: Callable[[int | None, Outcome], None],
    ) -> None:
        self.ids = prompt.ids
        self.temperature = limits.temperature
        self.top_p = limits.top_p
        self.cancelled = False
        self.last = -1  # the newest token, the next step's input
        self.loop = asyncio.get_running_loop()
        self.pinned: object = None
        self._on_token = weakref.WeakMethod(on_token)
        self._random = Random(limits.seed)  # noqa: S311 - a seeded choice is the point
        self._left = room if limits.max_tokens is None else min(limits.max_tokens, room)
        self._budget = limits.thinking_budget
        self._moves: Moves = vocabulary.moves()
        self._markers = {marker for _, marker in self._moves}
        self._ends = vocabulary.ends
        self._close = vocabulary.thinking.close_id if vocabulary.thinking else None
        self._phase = Phase.THINKING if prompt.opens_thinking else Phase.TEXT

    def deliver(self, token: int | None, outcome: Outcome) -> None:
        """Pass a token on, in the event loop."""
        on_token = self._on_token()
        if on_token is None:
            self.cancelled = True
        else:
            on_token(token, outcome)

    def draw(self) -> float:
        """A number in [0, 1), from this generation's own seed whoever runs beside it."""
        return self._random.random()

    def accept(self, chosen: int) -> Outcome:
        """Take the token that the model chose, or the close marker if the budget is used up.

        The taken token is `last`.
        """
        if self._phase is Phase.THINKING and self._budget is not None and self._close is not None:
            if self._budget == 0:
                chosen = self._close
            elif chosen not in self._markers:
                self._budget -= 1
        self.last = chosen
        self._left -= 1
        if chosen in self._markers:
            self._phase = self._moves[self._phase, chosen]
        if chosen in self._ends:
            return "stop"
        return None if self._left else "length"


def choose(logits: Tensor, works: Sequence[Work]) -> list[int]:
    """One token for each row of `logits` [rows, vocabulary].

    A row's choice depends on its own logits, settings and draw only, never on its neighbours.
    """
    chosen: list[int] = logits.argmax(-1).tolist()
    for nucleus in (False, True):
        rows = [
            row
            for row, work in enumerate(works)
            if work.temperature > 0 and (work.top_p < 1) is nucleus
        ]
        if rows:
            picked = _sampled_tokens(logits[rows], [works[row] for row in rows], nucleus=nucleus)
            for row, token in zip(rows, picked, strict=True):
                chosen[row] = token
    return chosen


def _sampled_tokens(logits: Tensor, works: Sequence[Work], *, nucleus: bool) -> list[int]:
    """The inverse of each row's cumulative distribution, at its drawn number."""
    heat = _settings_column([work.temperature for work in works], logits)
    logits = logits.float()
    shares = torch.softmax((logits - logits.amax(-1, keepdim=True)) / heat, dim=-1)
    order = None
    if nucleus:
        shares, order = shares.sort(dim=-1, descending=True, stable=True)
        before = shares.cumsum(-1) - shares
        shares = shares.masked_fill(before >= _settings_column([w.top_p for w in works], logits), 0)
    sums = shares.cumsum(-1)
    drawn = _settings_column([work.draw() for work in works], logits) * sums[:, -1:]
    # A number rounded up to the whole sum would lie behind the last token that has a share.
    picked = torch.searchsorted(sums, drawn, right=True).clamp(max=logits.shape[-1] - 1)
    last = (shares > 0).long().cumsum(-1).argmax(-1, keepdim=True)
    picked = torch.minimum(picked, last)
    if order is not None:
        picked = order.gather(-1, picked)
    tokens: list[int] = picked[:, 0].tolist()
    return tokens


def _settings_column(values: Sequence[float], like: Tensor) -> Tensor:
    return torch.tensor(values, dtype=torch.float32, device=like.device)[:, None]
