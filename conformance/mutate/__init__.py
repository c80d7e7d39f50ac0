"""Mutation: edits of recorded streams that prove the rules, and the matrix of what they find."""

from __future__ import annotations

from conformance.mutate.bases import Base, base, shipped_bases, shipped_mutants
from conformance.mutate.catalogue import OPERATORS, named
from conformance.mutate.client import DEFECTS, Defect, client_mutants
from conformance.mutate.matrix import Matrix, Trial, matrix
from conformance.mutate.operator import FAMILIES, Mutant, Operator, mutants
from conformance.mutate.printed import faults, printed, summary
from conformance.mutate.stream import Piece, Stream, taken_apart
from conformance.mutate.written import Tried, save, tried

__all__ = [
    "DEFECTS",
    "FAMILIES",
    "OPERATORS",
    "Base",
    "Defect",
    "Matrix",
    "Mutant",
    "Operator",
    "Piece",
    "Stream",
    "Trial",
    "Tried",
    "base",
    "client_mutants",
    "faults",
    "matrix",
    "mutants",
    "named",
    "printed",
    "save",
    "shipped_bases",
    "shipped_mutants",
    "summary",
    "taken_apart",
    "tried",
]
