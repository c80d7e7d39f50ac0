"""Where ids and times come from, so that a test can say what they are."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stamp:
    """`token` gives another unused word each time, `clock` seconds since 1970."""

    token: Callable[[], str] = lambda: secrets.token_hex(12)
    clock: Callable[[], float] = time.time

    def new(self, prefix: str) -> str:
        return f"{prefix}{self.token()}"

    def now(self) -> int:
        """Whole seconds since 1970."""
        return int(self.clock())
