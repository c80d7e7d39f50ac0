"""Tables of cases, written as YAML; read with the parser in C, the other takes seconds for some."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml


@cache
def read_table(path: Path) -> Any:
    """What the file holds, to be read only: it is read once."""
    return yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)  # safe
