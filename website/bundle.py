"""The judge for the browser: Pyodide from npm, and one archive with the package and what it needs.

Rule 1: what is bundled is a closed list with versions, in judge/package.json and
judge/requirements.txt.
Rule 2: the archive holds what `check` needs: no cassettes and no reference implementation; the
values of the shipped YAML files, and PyYAML without its compiled part for suites of a reader's own.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from zipfile import ZIP_DEFLATED, ZipFile

import yaml

from conformance.core.shipped import VALUES_NAME
from conformance.judging.building import build_values

ROOT: Final = Path(__file__).parent.parent
OWN: Final = Path(__file__).parent / "judge"
_PYODIDE: Final = (
    *("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm"),
    *("python_stdlib.zip", "pyodide-lock.json"),
)
# The Python of that Pyodide, as pip names it.
_PLATFORM: Final = (
    *("--platform", "pyemscripten_2026_0_wasm32", "--python-version", "3.14"),
    *("--implementation", "cp", "--abi", "cp314", "--only-binary", ":all:", "--no-deps"),
)
_LEFT_OUT: Final = frozenset({"reference", "corpus", "pytest_plugin", "__pycache__"})


def write_judge(folder: Path) -> None:
    """Writes `pyodide/` and `judge.zip` into a folder. Needs npm, pip and their registries."""
    with TemporaryDirectory() as made:
        _write_pyodide(folder / "pyodide", Path(made))
        wheels = _wheels(Path(made) / "wheels")
        write_archive(folder / "judge.zip", wheels)


def write_archive(file: Path, wheels: list[Path]) -> None:
    """The package with its rules and profiles, the stand-ins, and what the wheels hold."""
    with TemporaryDirectory() as made, ZipFile(file, "w", ZIP_DEFLATED) as archive:
        for path, name in _package_files():
            archive.write(path, name)
        values = Path(made) / VALUES_NAME
        build_values(values)
        archive.write(values, f"conformance/_data/{VALUES_NAME}")
        # The folder has to be there; none of its recordings is needed.
        archive.writestr("conformance/_data/cassettes/README", "left out\n")
        for wheel in wheels:
            with ZipFile(wheel) as held:
                for name in held.namelist():
                    archive.writestr(name, held.read(name))


def _package_files() -> Iterator[tuple[Path, str]]:
    for folder, name in ((ROOT / "conformance", "conformance"), (ROOT / "specs", "")):
        for path in sorted(folder.rglob("*")):
            inside = path.relative_to(folder)
            if path.is_file() and not _LEFT_OUT & set(inside.parts):
                yield path, f"{name or 'conformance/_data/specs'}/{inside.as_posix()}"
    yield from ((path, path.name) for path in sorted(OWN.glob("*.py")))
    reader = Path(yaml.__file__).parent
    yield from ((path, f"yaml/{path.name}") for path in sorted(reader.glob("*.py")))


def _write_pyodide(folder: Path, made: Path) -> None:
    pins = json.loads((OWN / "package.json").read_text(encoding="utf-8"))["dependencies"]
    pack = ["npm", "pack", "--silent", f"pyodide@{pins['pyodide']}"]
    subprocess.run(pack, cwd=made, check=True, stdout=subprocess.DEVNULL)
    folder.mkdir(parents=True)
    with tarfile.open(next(made.glob("*.tgz"))) as archive:
        for name in _PYODIDE:
            held = archive.extractfile(f"package/{name}")
            assert held is not None
            (folder / name).write_bytes(held.read())


def _wheels(folder: Path) -> list[Path]:
    pip = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check"]
    wanted = ["-d", str(folder), "-r", str(OWN / "requirements.txt")]
    subprocess.run([*pip, *_PLATFORM, *wanted], check=True)
    return sorted(folder.glob("*.whl"))
