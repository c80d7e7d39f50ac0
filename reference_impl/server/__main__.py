"""Runs the server: `python -m conformance.reference server --port 0 --port-file FILE`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress

from ..model import folder
from .app import application
from .defects import DEFECTS
from .engine import Engine, EngineError
from .listening import serve
from .options import ServerOptions, parse
from .service import Service


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 0 after an interrupt, 2 for a wrong argument, 3 for a port that is taken."""
    options = parse(arguments)
    if options.lists_defects:
        return _list_defects()
    try:
        engine = _engine(options)
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


def _engine(options: ServerOptions) -> Engine:
    return Engine.load(
        options.model or folder(options.variant),
        max_batch=options.max_batch,
        step_delay_s=options.step_delay_s,
        think_markers=options.think_markers,
    )


if __name__ == "__main__":
    sys.exit(main())
