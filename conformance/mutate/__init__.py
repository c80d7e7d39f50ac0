"""Mutation: edits of recorded streams that prove the rules, and the matrix of what they find."""

from conformance.editing.operator import FAMILIES, Operator, make_mutants
from conformance.mutate.base_recordings import (
    BaseRecording,
    judge_mutants,
    open_base,
    shipped_bases,
    shipped_mutants,
    write_mutant,
)
from conformance.mutate.catalogue import OPERATORS, find_operators
from conformance.mutate.client_defects import DEFECTS, client_mutants
from conformance.mutate.matrix import Matrix, judge_cover, judge_matrix
from conformance.mutate.matrix_report import format_matrix, matrix_faults
from conformance.mutate.stream import take_apart

__all__ = [
    "DEFECTS",
    "FAMILIES",
    "OPERATORS",
    "BaseRecording",
    "Matrix",
    "Operator",
    "client_mutants",
    "find_operators",
    "format_matrix",
    "judge_cover",
    "judge_matrix",
    "judge_mutants",
    "make_mutants",
    "matrix_faults",
    "open_base",
    "shipped_bases",
    "shipped_mutants",
    "take_apart",
    "write_mutant",
]
