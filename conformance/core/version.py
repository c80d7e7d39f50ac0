"""The version of the package, for modules that must not import `conformance` itself."""

from __future__ import annotations

from typing import Final

__version__: Final = "0.1.0"
