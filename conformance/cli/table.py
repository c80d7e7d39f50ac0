"""Rows of data as lines of text, in columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.report.printable import visible

Row = Mapping[str, Any]


def cell(value: Any) -> str:
    """One value as a reader sees it."""
    if isinstance(value, bool):
        return "supported" if value else "recognised, not supported yet"
    return "-" if value is None else visible(str(value))


def table(rows: list[list[str]]) -> list[str]:
    """A line for each row; columns are as wide as their widest cell."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
