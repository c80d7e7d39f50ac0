r"""Finds keys and tokens by their published shapes, in the bytes of a body or a path.

What the group holds is the secret; what stands before it only says what it is. A key begins where
no character of a key stands before it, or a JSON escape such as `\\n` does; so every run of key
characters is looked at once, and time is linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_START: Final = rb"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrtbf])|(?<=\\u[0-9a-fA-F]{4}))"
# A key has a digit somewhere; without that, `sk-loading-indicator-icon` would be one.
_DIGIT: Final = rb"(?=[A-Za-z_-]{0,60}[0-9])"
# Rule, what must occur for the pattern to be tried at all, pattern.
_SHAPES: Final = (
    ("key.sk", b"sk-", rb"sk-(" + _DIGIT + rb"[A-Za-z0-9_-]{16,}+)"),
    ("key.google", b"AIza", rb"AIza([A-Za-z0-9_-]{35,}+)"),
    ("key.github", b"gh", rb"gh[pousr]_([A-Za-z0-9]{20,}+)"),
    ("key.github-pat", b"github_pat_", rb"github_pat_([A-Za-z0-9_]{20,}+)"),
    ("key.slack", b"xox", rb"xox[abeprs]-([A-Za-z0-9-]{10,}+)"),
    ("key.aws", b"IA", rb"A[KS]IA([A-Z0-9]{16}+)(?![A-Za-z0-9])"),
    ("key.huggingface", b"hf_", rb"hf_([A-Za-z0-9]{30,}+)"),
    ("key.groq", b"gsk_", rb"gsk_([A-Za-z0-9]{40,}+)"),
    ("key.xai", b"xai-", rb"xai-([A-Za-z0-9]{40,}+)"),
    ("key.nvidia", b"nvapi-", rb"nvapi-([A-Za-z0-9_-]{40,}+)"),
    ("key.jwt", b"eyJ", rb"eyJ([\w-]{8,}+\.eyJ[\w-]{8,}+\.[\w-]{8,}+)"),
)
_PATTERNS: Final = (
    ("key.bearer", b"earer", re.compile(rb"[Bb]earer[ \t]{1,8}([A-Za-z0-9._~+/-]{16,}+=*+)")),
    *((rule, hint, re.compile(_START + shape)) for rule, hint, shape in _SHAPES),
)


class Credential(NamedTuple):
    """Where a secret stands, and the redaction rule that found it."""

    start: int
    stop: int
    rule: str


def credentials(text: bytes) -> Iterator[Credential]:
    """Every credential; two rules never claim the same byte."""
    taken = bytearray()
    for rule, hint, pattern in _PATTERNS:
        if hint not in text:
            continue
        taken = taken or bytearray(len(text))
        for match in pattern.finditer(text):
            start, stop = match.span(1)
            if 1 not in taken[start:stop]:
                taken[start:stop] = b"\x01" * (stop - start)
                yield Credential(start, stop, rule)
