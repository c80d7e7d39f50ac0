"""A shell session as a page shows it: commands behind `$`, what each prints, and whether it did.

`...` in a line stands for any characters, a line that is `...` for any lines. Of a command below
which nothing stands the page says nothing, so nothing is compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct


class Command(Struct, frozen=True):
    """One command, and the lines that the page shows of what it prints."""

    text: str
    shown: tuple[str, ...]

    @property
    def is_background(self) -> bool:
        """Whether it goes on while the next one runs."""
        return self.text.split("#")[0].rstrip().endswith("&")


def commands_of(text: str) -> Iterator[Command]:
    """The commands of a block, in their order. Raises ValueError for lines before the first."""
    command, shown = "", list[str]()
    for line in text.splitlines():
        if line.startswith("$ "):
            if command:
                yield Command(command, tuple(shown))
            command, shown = line[2:], []
        elif command.endswith("\\") or (line.startswith("> ") and not shown):
            command += "\n" + line.removeprefix("> ")
        elif command:
            shown.append(line)
        else:
            raise ValueError(f"expected a command behind $, got {line!r}")
    if command:
        yield Command(command, tuple(shown))


def shows(page: tuple[str, ...], printed: str) -> bool:
    """Whether what was printed is what the page shows."""
    wanted = "\n".join(line.rstrip() for line in page).strip("\n")
    got = "\n".join(line.rstrip() for line in printed.splitlines()).strip("\n")
    parts = [_line_pattern(line) for line in wanted.split("\n")]
    pattern = "\n".join(parts).replace("\n\0\n", r"\n(?:.*\n)*?").replace("\0\n", r"(?:.*\n)*?")
    pattern = pattern.replace("\n\0", r"(?:\n.*)*").replace("\0", r"(?:.*\n?)*")
    return re.fullmatch(pattern, got) is not None


def _line_pattern(line: str) -> str:
    if line.strip() == "...":
        return "\0"
    return ".*?".join(re.escape(part) for part in line.split("..."))
