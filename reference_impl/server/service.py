"""What one process of the server shares."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from .defects import Defect, Scene, hooked
from .memory import Memory
from .projection import Events
from .sealing import Seal
from .settings import Model, Settings
from .stamp import Stamp
from .summary import AnswerEvent


def _key() -> bytes:
    return secrets.token_bytes(32)


@dataclass(frozen=True, slots=True)
class Service:
    """Everything that an API needs to answer; `key` is what reasoning is sealed with."""

    model: Model
    settings: Settings = field(default_factory=Settings)
    stamp: Stamp = field(default_factory=Stamp)
    key: bytes = field(default_factory=_key, repr=False)
    started: int = field(default_factory=lambda: int(time.time()))
    defect: Defect | None = None
    memory: Memory = field(default_factory=Memory, repr=False)

    @property
    def model_id(self) -> str:
        """What requests have to call the model."""
        return self.settings.model_name or self.model.model_id

    def seal(self, purpose: str) -> Seal:
        return Seal(self.key, purpose)

    def faulty(
        self, begin: Callable[[], Events[AnswerEvent]], scene: Scene
    ) -> Callable[[], Events[AnswerEvent]]:
        """The generation, with the fault that a defect has there."""
        if self.defect is None or self.defect.events is None:
            return begin
        hook = self.defect.events
        return lambda: hooked(begin(), hook, scene)
