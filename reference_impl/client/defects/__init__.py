"""Named faults of clients, each switched on alone: what conformance has to find.

Nothing in the client knows of them. A defect stands at one of five doors: it sees the bytes before
they are read, the events before they are reported, what is asked, the request before it goes, or
the record before it is stored.
"""

from __future__ import annotations

from typing import Final

from .defect import Defect
from .hearing import HEARING
from .telling import TELLING

__all__ = ["DEFECTS", "HONEST", "Defect"]

HONEST: Final = Defect("none", "Everything is right.", ())
DEFECTS: Final = {defect.name: defect for defect in (*HEARING, *TELLING)}
