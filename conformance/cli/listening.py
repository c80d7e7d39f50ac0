"""What listens until a signal comes: where it listens, and with which exit code it ends."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

from conformance.cli.failures import CONFORMS, INTERRUPTED
from conformance.cli.terminal import put
from conformance.report.files import write_whole


def exit_code_on_signal() -> asyncio.Future[int]:
    """Done when SIGINT or SIGTERM comes."""
    loop = asyncio.get_running_loop()
    code: asyncio.Future[int] = loop.create_future()
    for number, meaning in ((signal.SIGINT, INTERRUPTED), (signal.SIGTERM, CONFORMS)):
        loop.add_signal_handler(number, settle_exit, code, meaning)
    return code


def settle_exit(code: asyncio.Future[int], value: int) -> None:
    """The first end counts."""
    if not code.done():
        code.set_result(value)


def tell_ready(url: str, port_file: Path | None) -> None:
    """Says that requests may come; the port stands in `port_file` before that."""
    if port_file is not None:
        write_whole(port_file, f"{url.rsplit(':', 1)[1]}\n".encode())
    put(f"READY {url}")
