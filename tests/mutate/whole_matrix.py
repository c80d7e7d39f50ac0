"""Writes the matrix of all shipped recordings, made by all processors: `whole_matrix FILE`."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

from conformance.mutate import judge_matrix, shipped_bases, shipped_mutants

if __name__ == "__main__":
    found = judge_matrix(shipped_bases(), shipped_mutants(), jobs=None)
    Path(sys.argv[1]).write_bytes(msgspec.msgpack.encode(found))
