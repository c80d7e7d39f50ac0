"""Builds sdist and wheel: `dist.py FOLDER`. A wheel built from the sdist has to equal the other."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

ROOT = Path(__file__).parent.parent
BUILD = [sys.executable, "-m", "hatchling", "build"]


def main(arguments: list[str]) -> int:
    """1 with the names of the files that differ."""
    folder = Path(arguments[0]).resolve()
    subprocess.run([*BUILD, "-d", str(folder)], cwd=ROOT, check=True)
    (sdist,) = folder.glob("*.tar.gz")
    (wheel,) = folder.glob("*.whl")
    with TemporaryDirectory() as made:
        with tarfile.open(sdist) as archive:
            archive.extractall(made, filter="data")
        (source,) = Path(made).iterdir()
        again = Path(made) / "wheel"
        subprocess.run([*BUILD, "-t", "wheel", "-d", str(again)], cwd=source, check=True)
        differing = sorted(_differing(wheel, again / wheel.name))
    for name in differing:
        print(f"the wheel of the sdist differs from that of the checkout: {name}", file=sys.stderr)
    return bool(differing)


def _differing(one: Path, other: Path) -> set[str]:
    """The names of files that only one wheel has, or that hold other bytes."""
    with ZipFile(one) as first, ZipFile(other) as second:
        both = set(first.namelist()) & set(second.namelist())
        lone = set(first.namelist()) ^ set(second.namelist())
        return lone | {name for name in both if first.read(name) != second.read(name)}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
