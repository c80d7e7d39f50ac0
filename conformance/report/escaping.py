"""Text from the wire, made safe for the language that a report is written in.

Every piece first passes `visible`: one line, printable characters only, bounded. So line ends,
bidirectional marks and half surrogate pairs are spelled out before any escape is applied.
"""

from __future__ import annotations

import re
from html import escape
from typing import Final

from conformance.report.printable import LIMIT, visible

_BACKTICKS: Final = re.compile("`+")
# What Markdown gives a meaning to inside a line; `@`, `#` and URLs would name people and pages.
_MARKDOWN: Final = re.compile(r"[\\`*_\[\]~|]")
_ENTITIES: Final = re.compile(r"[&<>@#$]|(?<=\w):(?=//)|(?<=\bwww)\.", re.IGNORECASE)


def escape_html(text: str, limit: int = LIMIT) -> str:
    """Text for the content of an element or for a quoted attribute."""
    return escape(visible(text, limit), quote=True)


def escape_markdown(text: str, limit: int = LIMIT) -> str:
    """Text that Markdown shows as it is: no markup, no tags, no mentions, no links."""
    shown = _MARKDOWN.sub(r"\\\g<0>", visible(text, limit))
    return _ENTITIES.sub(lambda match: f"&#{ord(match[0])};", shown)


def code_span(text: str, limit: int = LIMIT) -> str:
    """Text as a Markdown code span, fenced by more backticks than it holds; fit for a table."""
    shown = visible(text, limit).replace("|", "¦")
    fence = _code_fence(shown, 1)
    space = " " if not shown.strip("` ") or "`" in (shown[0], shown[-1]) else ""
    return f"{fence}{space}{shown}{space}{fence}" if shown else ""


def code_block(lines: list[str], language: str = "text") -> list[str]:
    """Lines as a fenced Markdown block; each is made visible, none can end the block."""
    shown = [visible(line) for line in lines]
    fence = _code_fence("\n".join(shown), 3)
    return [f"{fence}{language}", *shown, fence]


def _code_fence(text: str, least: int) -> str:
    return max(["`" * least, *(f"{run}`" for run in _BACKTICKS.findall(text))], key=len)


def workflow_message(text: str) -> str:
    return visible(text, 4 * LIMIT).replace("%", "%25")


def workflow_property(text: str) -> str:
    return workflow_message(text).replace(":", "%3A").replace(",", "%2C")
