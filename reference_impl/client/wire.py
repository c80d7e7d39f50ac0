"""The base of the readers of all APIs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from .event import Event, Report
from .frame import Frame
from .markers import Pair
from .payload import decode, object_of
from .speech import Speech

Api = Literal[
    "chat",
    "responses",
    "messages",
    "gemini",
    "interactions",
    "bedrock",
    "cohere",
    "mistral",
    "ollama",
    "ollama-generate",
]
EVERY_API: Final[tuple[Api, ...]] = get_args(Api)


@dataclass(frozen=True, slots=True)
class Reading:
    """How text is to be read: the marker pairs around thinking in it, if any.

    `opened_by_prompt`: the prompt ends with the open marker, so that only the close one is sent.
    """

    markers: tuple[Pair, ...] = ()
    opened_by_prompt: bool = False


class AnswerReader(ABC):
    """A reader of an answer with one end. Without a terminal signal it is a cut."""

    def __init__(self, reading: Reading) -> None:
        del reading  # most APIs have thinking apart from the text
        self._report = Report()
        self._speech = Speech(self._report)
        self._is_done = False

    def read(self, frame: Frame) -> list[Event]:
        """The events of one frame."""
        self._read_event(frame, object_of(decode(frame.data)))
        return self._report.take()

    def body(self, payload: dict[str, Any]) -> list[Event]:
        """The events of a whole answer, or of an error in its place."""
        self._read_body(payload)
        return self._report.take()

    @abstractmethod
    def _read_event(self, frame: Frame, event: dict[str, Any]) -> None: ...

    @abstractmethod
    def _read_body(self, payload: dict[str, Any]) -> None: ...

    def end(self, how: str) -> list[Event]:
        """The events of the end of the bytes."""
        self._close_open()
        if not self._is_done:
            if how == "eof" and self._has_ended():
                self._done(explicit=False)
            else:
                self._is_done = True
                self._report.add("cut", how=how)
        return self._report.take()

    def echo(self) -> Mapping[str, Any]:
        """The fields to send back next to the pieces of the turn: often none."""
        return {}

    @abstractmethod
    def _close_open(self) -> None:
        """End what the wire left open."""

    def _has_ended(self) -> bool:
        """Whether an answer that stops here is complete though the wire has not said so."""
        return False

    def _done(self, *, explicit: bool) -> None:
        self._is_done = True
        self._report.add("done", explicit=explicit)
