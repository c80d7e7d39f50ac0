"""Secrets of a request blanked out, so that a recording without them matches one with them.

A redacted recording holds a stand-in where the client under test sends its key. Both stand in a
place that redaction knows (a field such as `api_key`, or text of a key's shape), so both become the
same blank. Opaque reasoning data is compared as it is: a client has it from the recorded answer.
"""

from __future__ import annotations

import re
from typing import Final

from conformance.cassette.credentials import credentials
from conformance.cassette.opaque import secret_spans

_BLANK: Final = b"*"
_RUNS: Final = re.compile(rb"\x00+")


def mask_secrets(canonical: bytes) -> bytes:
    """The canonical body with one blank for each secret. Canonical JSON holds no NUL byte."""
    found = secret_spans(canonical)
    spans = [(s.start, s.stop) for s in found if not s.rule.startswith("opaque.")]
    spans += [(start, stop) for start, stop, _ in credentials(canonical)]
    if not spans:
        return canonical
    text = bytearray(canonical)
    for start, stop in spans:
        text[start:stop] = bytes(stop - start)
    return _RUNS.sub(_BLANK, bytes(text))
