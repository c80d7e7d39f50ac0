"""Tool calls: started once, told in fragments, ended with the whole arguments."""

from __future__ import annotations

from .event import Report
from .surrogates import whole


class Call:
    """One call of a tool. Names and ids that come late, or again, are the first that came.

    A hosted call is carried out by the server.
    """

    def __init__(
        self, report: Report, index: int, *, choice: int = 0, hosted: bool = False
    ) -> None:
        self._report = report
        self._choice = choice
        self._hosted = hosted or None
        self.index = index
        self.id = ""
        self.name = ""
        self._fragments: list[str] = []
        self._ended = False

    @property
    def is_silent(self) -> bool:
        """Whether no fragment of its arguments has come."""
        return not self._fragments

    def start(self, call_id: str, name: str) -> None:
        """Tell that the call begins."""
        self.learn(call_id, name)
        self._report.tell(
            "tool.start",
            self._choice,
            index=self.index,
            id=call_id or None,
            name=name or None,
            hosted=self._hosted,
        )

    def learn(self, call_id: str, name: str) -> None:
        """Keep what a later fragment says of the call."""
        self.id = self.id or call_id
        self.name = self.name or name

    def add(self, arguments: str) -> None:
        """Tell a fragment of the arguments."""
        if arguments:
            self._fragments.append(arguments)
            self._report.tell("tool.delta", self._choice, index=self.index, arguments=arguments)

    def end(self) -> None:
        """Tell the whole call, once."""
        if self._ended:
            return
        self._ended = True
        self._report.tell(
            "tool.end",
            self._choice,
            index=self.index,
            id=self.id or None,
            name=self.name or None,
            hosted=self._hosted,
            arguments=whole("".join(self._fragments)),
        )
