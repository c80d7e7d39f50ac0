"""Writes the lock files anew: `make lock` runs this where uv is installed.

Each lock names exact versions with hashes for every Python and platform that the project supports.
torch is left out, since which build of it fits is the machine's choice (`TORCH` in the Makefile).
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
PYTHON = "3.11"

LOCKS = {
    "base.txt": ["pyproject.toml"],
    "build.txt": ["requirements/build.in"],
    "site.txt": ["requirements/site.in"],
    "dev.txt": [
        *("pyproject.toml", "requirements/build.in", "--no-emit-package=torch"),
        *(f"--extra={extra}" for extra in ("dev", "reference", "oracles", "bench")),
    ],
}


def main(arguments: list[str]) -> int:
    """Write all locks; further arguments (`--upgrade-package NAME`) go to uv as they are."""
    for name, sources in LOCKS.items():
        # Without an own lock at hand uv takes the newest of everything.
        upgrade = [] if any("upgrade" in each for each in arguments) else ["--upgrade"]
        command = [
            *("uv", "pip", "compile", "--quiet", "--universal", f"--python-version={PYTHON}"),
            *("--generate-hashes", "--no-annotate", "--custom-compile-command=make lock"),
            *(*sources, "--output-file", str(HERE / name), *upgrade, *arguments),
        ]
        done = subprocess.run(command, cwd=HERE.parent, check=False)
        if done.returncode:
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
