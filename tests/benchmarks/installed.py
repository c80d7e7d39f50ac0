"""The package as a wheel lays it out: with values in place of YAML, and its bytecode."""

from __future__ import annotations

import compileall
import shutil
from pathlib import Path
from typing import Final

from conformance.core.shipped import VALUES_NAME
from conformance.judging.building import build_values

ROOT: Final = Path(__file__).resolve().parents[2]


def install(folder: Path) -> str:
    """Lays the package into the folder; a process that begins there imports it from there."""
    package = folder / "conformance"
    data = package / "_data"
    unwanted = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "conformance", package, ignore=unwanted)
    for name in ("specs", "cassettes"):
        shutil.copytree(ROOT / name, data / name)
    build_values(data / VALUES_NAME)
    compileall.compile_dir(folder, quiet=1)
    return str(folder)
