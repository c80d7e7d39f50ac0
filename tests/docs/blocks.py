"""The code blocks of a page: what they are, where they stand, and why one of them is not run.

Every block is fenced and says its language. A block that cannot be run is followed by a line that
readers see, too: `*Not run: it needs ...*`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

ROOT: Final = Path(__file__).parents[2]
PAGES: Final = ("README.md", *sorted(f"docs/{each.name}" for each in ROOT.glob("docs/*.md")))
_FENCE: Final = re.compile(r"( *)```(\w*)(.*)")
_TITLE: Final = re.compile(r'title="([^"]+)"')
_MARK: Final = re.compile(r"\*Not run: (.+)\*")
_LIST: Final = re.compile(r" *(?:[-*]|\d+\.) ")


class Block(Struct, frozen=True):
    """One block of a page.

    `line` is that of its fence, from 1; `title` the file that it stands for; `not_run` the reason
    why it is not run, empty where it is.
    """

    page: str
    line: int
    language: str
    title: str
    text: str
    not_run: str = ""


def blocks_of(page: str) -> Iterator[Block]:
    """The blocks of a page, in their order."""
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    at = 0
    while at < len(lines):
        fence = _FENCE.fullmatch(lines[at])
        if fence is None:
            at += 1
            continue
        margin = fence[1]
        end = next(n for n in range(at + 1, len(lines)) if lines[n] == f"{margin}```")
        text = "\n".join(line.removeprefix(margin) for line in lines[at + 1 : end])
        title = _TITLE.search(fence[3])
        after = next((line.strip() for line in lines[end + 1 :] if line.strip()), "")
        mark = _MARK.fullmatch(after)
        yield Block(
            page, at + 1, fence[2], title[1] if title else "", text, mark[1] if mark else ""
        )
        at = end + 1


def indented_blocks(page: str) -> Iterator[int]:
    """Lines on which a block begins that is not fenced."""
    is_fenced, before, in_list = False, "", False
    for number, line in enumerate((ROOT / page).read_text(encoding="utf-8").splitlines(), 1):
        if line.lstrip().startswith("```"):
            is_fenced = not is_fenced
        in_list = bool(_LIST.match(line)) or (in_list and line.startswith((" ", "")))
        if line[:1] not in ("", " ") and not _LIST.match(line):
            in_list = False
        if not is_fenced and not in_list and not before and line.startswith("    "):
            yield number
        before = line.strip()
