"""One request on its way to an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from conformance.targets.replay.matching import Match
from conformance.targets.replay.miss import Miss
from conformance.wire.requests import HttpRequest, RequestRejected


@dataclass(slots=True)
class Turn:
    """The request, where it led, what answers it, and when it came.

    `began` is monotonic time in seconds; 0 for what never became a request.
    """

    asked: HttpRequest
    name: str
    session: str
    path: str
    found: Match | Miss
    status: int
    began: float
    is_noted: bool = False

    @classmethod
    def rejected(cls, reason: RequestRejected) -> Self:
        """No request at all."""
        asked = HttpRequest("", "", (), b"")
        return cls(asked, "", "", "", Miss(reason.why), reason.status, 0.0)
