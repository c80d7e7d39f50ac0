"""An ASGI application at a port of its own, which it tells on stdout: `READY URL`."""

from __future__ import annotations

import socket
from typing import Any

import uvicorn


def serve(application: Any) -> None:
    """Serves until the process is ended."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        print(f"READY http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
        uvicorn.Server(uvicorn.Config(application, log_level="warning")).run([listening])
