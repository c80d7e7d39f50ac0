"""Token ids to events: thinking, text and tool calls, each decoded on its own.

Pure: no clock, no thread, no model. A marker's text can not leak, for it is never decoded.
"""

from __future__ import annotations

from collections.abc import Sequence

from tokenizers import Tokenizer

from .calls import read_call
from .decoding import BlockDecoder
from .events import EngineEvent, Finish, Reason, ReasoningDelta, TextDelta, ToolCall, Usage
from .markers import Phase, Vocabulary
from .stops import StopSearch


class Router:
    """One generation. It is over when `push` or `end` gave a `Finish`.

    What is in a tool block and is no call is given back as text, also if the block was cut.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        vocabulary: Vocabulary,
        *,
        prompt_tokens: int = 0,
        opens_thinking: bool = False,
        stop: Sequence[str] = (),
    ) -> None:
        self._tokenizer = tokenizer
        self._neutral = vocabulary.neutral
        self._moves = vocabulary.moves()
        self._markers = {marker for _, marker in self._moves}
        self._unseen = vocabulary.ends | vocabulary.silent
        self._decoder = BlockDecoder(tokenizer, None, self._neutral)
        self._stops = StopSearch(stop)
        self._phase = Phase.THINKING if opens_thinking else Phase.TEXT
        self._prompt = prompt_tokens
        self._completion = self._reasoning = 0
        self._uncounted = 0  # thinking tokens that no delta has told of yet
        self._calls = 0
        self._call: list[str] = []

    @property
    def usage(self) -> Usage:
        return Usage(self._prompt, self._completion, self._reasoning)

    def push(self, token: int) -> list[EngineEvent]:
        self._completion += 1
        if token in self._markers:
            return self._turn(token)
        if token in self._unseen:
            return []
        text = self._decoder.push(token)
        if self._phase is Phase.THINKING:
            self._reasoning += 1
            self._uncounted += 1
        return self._say(text) if text else []

    def end(self, reason: Reason) -> list[EngineEvent]:
        """Return the events that were held back, then the end."""
        events = self._close()
        if events and isinstance(events[-1], Finish):
            return events
        if reason == "stop" and self._calls:
            reason = "tool_calls"
        return [*events, Finish(reason, self.usage)]

    def _turn(self, marker: int) -> list[EngineEvent]:
        """A marker ends a block, even where it changes nothing; then another begins."""
        complete = self._phase is Phase.TOOL and self._moves[self._phase, marker] is Phase.TEXT
        events = self._close(complete=complete)
        self._phase = self._moves[self._phase, marker]
        self._decoder = BlockDecoder(self._tokenizer, marker, self._neutral)
        return events

    def _close(self, *, complete: bool = False) -> list[EngineEvent]:
        """Return the events of the rest of the block; a `complete` tool block becomes a call."""
        text = self._decoder.flush()
        events = self._say(text) if text else []
        if self._phase is Phase.TOOL:
            events = self._read_call("".join(self._call), complete=complete)
            self._call = []
        if self._stops.found is None:
            events += self._shown(self._stops.flush())
        return events

    def _say(self, text: str) -> list[EngineEvent]:
        if self._phase is Phase.THINKING:
            tokens, self._uncounted = self._uncounted, 0
            return [ReasoningDelta(text, tokens)]
        if self._phase is Phase.TOOL:
            self._call.append(text)
            return []
        return self._shown(self._stops.push(text))

    def _shown(self, text: str) -> list[EngineEvent]:
        """Visible text that passed the search for stop strings, and the end if one was found."""
        events: list[EngineEvent] = [TextDelta(text)] if text else []
        if self._stops.found is not None:
            events.append(Finish("stop", self.usage, self._stops.found))
        return events

    def _read_call(self, text: str, *, complete: bool) -> list[EngineEvent]:
        call = read_call(text) if complete else None
        if call is None:
            return self._shown(self._stops.push(text)) if text else []
        self._calls += 1
        return [ToolCall(*call, id_hint=self._calls - 1)]
