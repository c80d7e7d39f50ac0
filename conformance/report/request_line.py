"""A recorded request as a line for a shell, without what opens doors."""

from __future__ import annotations

import json
import shlex
from typing import Any, Final

from conformance.cassette.redact import REDACTED
from conformance.core.events import Request
from conformance.dialects import ENDPOINTS, Endpoint
from conformance.report.printable import visible

_LONGEST: Final = 1500  # bytes of a body that stand on the line itself
_LEFT_OUT: Final = frozenset(
    {"accept-encoding", "connection", "content-length", "host", "user-agent"}
)
BODY: Final = "request.json"


def curl(request: Request, dialect: str) -> tuple[str, bytes | None]:
    """The line, and the body where it is too long for it and belongs into `request.json`.

    The server and the key are `$BASE_URL` and `$API_KEY`; header values that redaction does not
    know are left out.
    """
    parts = ["curl", "-sN"]
    if request.method != "POST" or request.json is None:
        parts += ["-X", shlex.quote(visible(request.method))]
    # Outside the quotes of the path: the shell has to fill it in.
    endpoint = ENDPOINTS.get(dialect, Endpoint("", ""))
    keys = [f'-H "{name}: {key}"' for name, key in endpoint.key_headers("$API_KEY").items()]
    parts += [f'"$BASE_URL"{shlex.quote(visible(request.path))}', *keys]
    for name, value in request.headers:
        if value != REDACTED and name.lower() not in _LEFT_OUT:
            parts += ["-H", shlex.quote(visible(f"{name}: {value}"))]
    if request.json is None:
        return " ".join(parts), None
    if all(name.lower() != "content-type" for name, _ in request.headers):
        parts += ["-H", "'content-type: application/json'"]
    body = _compact_json(request.json)
    if len(body) > _LONGEST:
        return " ".join([*parts, "-d", f"@{BODY}"]), body.encode()
    return " ".join([*parts, "-d", shlex.quote(body)]), None


def _compact_json(value: Any) -> str:
    """Compact, and ASCII where it holds what would move or hide text on a terminal."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text if text.isprintable() else json.dumps(value, separators=(",", ":"))
