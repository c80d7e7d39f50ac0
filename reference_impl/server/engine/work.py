"""One generation as the engine's thread sees it: what to go on from, where to end."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable
from random import Random

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
