"""The matrix of shipped recordings: `made_matrix FILE ONE_IN` makes it on all processors.

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


def made_matrix(file: Path, *, one_in: int = 1) -> Matrix:
    """The matrix of every so manieth base, made in another process and handed over in a file.

    With fewer than all bases it judges no mutants that stand in files: other tests do.
    """
    command = [sys.executable, "-m", "tests.mutate.made_matrix", str(file), str(one_in)]
    subprocess.run(command, check=True, cwd=ROOT)
    found: Matrix = pickle.loads(file.read_bytes())
    return replace(found, operators=tuple(OPERATORS), allowances=tuple(load_allowances()))


if __name__ == "__main__":
    gc.set_threshold(50_000)  # what is loaded stays: looking for garbage in it took a tenth
    one_in = int(sys.argv[2])
    bases = list(shipped_bases())[::one_in]
    made = judge_matrix(bases, shipped_mutants() if one_in == 1 else (), jobs=None)
    Path(sys.argv[1]).write_bytes(pickle.dumps(replace(made, operators=(), allowances=())))
