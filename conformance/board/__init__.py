"""The board: which systems keep which rules, by saved runs that anybody can judge again."""

from conformance.board.page import board_page
from conformance.board.rows import BoardRow, read_rows
from conformance.board.saved_run import add_run, summarise
from conformance.board.summary import RunSummary, read_summary
from conformance.board.verifying import disagreements

__all__ = [
    "BoardRow",
    "RunSummary",
    "add_run",
    "board_page",
    "disagreements",
    "read_rows",
    "read_summary",
    "summarise",
]
