"""Runs the server: `python -m conformance.reference server --port 0 --port-file FILE`."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from ..model import folder
from .app import application
from .defects import DEFECTS
from .engine import Engine, EngineError
from .options import ServerOptions, parse
from .service import Service


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


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 0 after an interrupt, 2 for a wrong argument, 3 for a port that is taken."""
    options = parse(arguments)
    if options.lists_defects:
        return _list_defects()
    try:
        engine = _loaded_engine(options)
    except EngineError as err:
        sys.stderr.write(f"error: {err}\n")
        return 2
    app = application(Service(engine, options.settings, defect=options.defect))
    try:
        with suppress(KeyboardInterrupt):  # uvicorn raises it again when it has shut down
            serve(
                app,
                host=options.host,
                port=options.port,
                port_file=options.port_file,
                most=options.settings.max_body,
            )
    finally:
        engine.close()
    return 0


def _list_defects() -> int:
    try:
        sys.stdout.writelines(f"{defect.line()}\n" for defect in DEFECTS.values())
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough; nor may the exit try to write
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _loaded_engine(options: ServerOptions) -> Engine:
    return Engine.load(
        options.model or folder(options.variant),
        max_batch=options.max_batch,
        step_delay_s=options.step_delay_s,
        think_markers=options.think_markers,
    )


if __name__ == "__main__":
    sys.exit(main())
