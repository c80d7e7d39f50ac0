"""An ASGI application at a port of its own, which it tells on stdout: `READY URL`."""

from __future__ import annotations

import socket
import sys
from typing import Any

import uvicorn


def serve(application: Any) -> None:
    """Serves until the process is ended."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        sys.stdout.write(f"READY http://127.0.0.1:{listening.getsockname()[1]}\n")
        sys.stdout.flush()
        uvicorn.Server(uvicorn.Config(application, log_level="warning")).run([listening])
