"""uvicorn, and how others learn that it listens: a line on stdout, and a port file."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp


class Announced(uvicorn.Server):
    """Says where it listens as soon as it does."""

    def __init__(self, config: uvicorn.Config, port_file: Path | None) -> None:
        super().__init__(config)
        self._port_file = port_file

    async def startup(self, sockets: list[object] | None = None) -> None:  # type: ignore[override]
        await super().startup(sockets)  # type: ignore[arg-type]
        if self.started:
            port = self.servers[0].sockets[0].getsockname()[1]
            if self._port_file is not None:
                write_port(self._port_file, port)
            host = self.config.host
            place = f"[{host}]" if ":" in host else host
            sys.stdout.write(f"READY http://{place}:{port}\n")
            sys.stdout.flush()


def write_port(path: Path, port: int) -> None:
    """Whole or not at all: who waits for the file never reads half a number."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    unfinished.write_text(f"{port}\n", encoding="ascii")
    unfinished.replace(path)


def serve(app: ASGIApp, *, host: str, port: int, port_file: Path | None, most: int) -> None:
    """Serve until a signal ends it. Exits with 3 where the port is taken, as uvicorn does.

    `most` is how many bytes a message of a WebSocket may have.
    """
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        log_level="warning",
        access_log=False,
        lifespan="off",
        ws="websockets-sansio",
        ws_max_size=most,
        timeout_graceful_shutdown=5,
        timeout_keep_alive=75,  # clients that keep idle connections as long as this lose a race
    )
    asyncio.run(Announced(config, port_file).serve())
