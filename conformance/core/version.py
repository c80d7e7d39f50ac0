"""The version of the package, for whoever may not import the package's front."""

from __future__ import annotations

from typing import Final

__version__: Final = "0.1.0"
