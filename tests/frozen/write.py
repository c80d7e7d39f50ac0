"""Writes the frozen set of a release: `python -m tests.frozen.write 0.1.0`."""

from __future__ import annotations

import sys
from pathlib import Path

from conformance.judging.rulebook import Rulebook


def lines(version: str) -> list[str]:
    """`id LEVEL` of every shipped rule of that version or older, sorted."""
    return sorted(f"{rule.id} {rule.level}" for rule in Rulebook.load(as_of=version).rules)


if __name__ == "__main__":
    text = "\n".join(lines(sys.argv[1])) + "\n"
    (Path(__file__).parent / f"{sys.argv[1]}.txt").write_text(text, encoding="utf-8")
