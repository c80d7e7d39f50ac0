"""The matrix of shipped recordings: `made_matrix FILE` makes it on all processors.

In a process of its own, since one that runs tests has threads and may not fork. Functions cannot be
written, so operators and allowances are put back when it is read.
"""

from __future__ import annotations

import gc
import pickle
import subprocess
import sys
from pathlib import Path

from msgspec.structs import replace

from conformance.mutate import OPERATORS, Matrix, judge_matrix, shipped_bases, shipped_mutants
from conformance.mutate.allowances import load_allowances

ROOT = Path(__file__).parents[2]


def made_matrix(file: Path) -> Matrix:
    """The whole matrix, made in another process and handed over in a file."""
    command = [sys.executable, "-m", "tests.mutate.made_matrix", str(file)]
    subprocess.run(command, check=True, cwd=ROOT)
    found: Matrix = pickle.loads(file.read_bytes())
    return replace(found, operators=tuple(OPERATORS), allowances=tuple(load_allowances()))


if __name__ == "__main__":
    gc.set_threshold(50_000)  # what is loaded stays: looking for garbage in it took a tenth
    made = judge_matrix(shipped_bases(), shipped_mutants(), jobs=None)
    Path(sys.argv[1]).write_bytes(pickle.dumps(replace(made, operators=(), allowances=())))
