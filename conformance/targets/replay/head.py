"""Response heads as bytes."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

from conformance.targets.replay.playing import Framing
from conformance.targets.replay.script import Script

_REASONS: Final = {status.value: status.phrase for status in HTTPStatus}


def head(script: Script, framing: Framing, *, keeps_alive: bool) -> bytes:
    """The recorded head, with what frames the body on this connection."""
    version = "1.0" if script.http == "1.0" and framing != "chunked" else "1.1"
    lines = [_status_line(version, script.status)]
    lines += [f"{name}: {value}" for name, value in script.headers]
    if framing == "chunked":
        lines.append("transfer-encoding: chunked")
    elif script.length is not None and framing != "close":
        lines.append(f"content-length: {script.length}")
    if not keeps_alive:
        lines.append("connection: close")
    return "\r\n".join((*lines, "\r\n")).encode("latin-1")


def plain(status: int, body: bytes, *, keeps_alive: bool) -> bytes:
    """A whole answer of our own, in JSON."""
    lines = [_status_line("1.1", status), "content-type: application/json"]
    lines.append(f"content-length: {len(body)}")
    if not keeps_alive:
        lines.append("connection: close")
    return "\r\n".join((*lines, "\r\n")).encode("ascii") + body


def _status_line(version: str, status: int) -> str:
    return f"HTTP/{version} {status} {_REASONS.get(status, '')}"
