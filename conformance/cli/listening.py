"""What listens until a signal comes: where it listens, and with which exit code it ends."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path
from typing import Final

from conformance.cli.failures import CONFORMS, INTERRUPTED
from conformance.cli.terminal import put, warn
from conformance.core.errors import UsageError
from conformance.dialects import ENDPOINTS, dialect_at
from conformance.report.files import write_whole
from conformance.report.printable import visible
from conformance.wire.hosts import is_loopback
from conformance.wire.origin import Origin
from conformance.wire.trust import certificates

if sys.platform != "win32":
    import resource

_OWN_DESCRIPTORS: Final = 64


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


def warn_beyond_loopback(host: str) -> None:
    """Where others than this machine may reach what listens, that is reported."""
    if not is_loopback(host):
        warn(f"listening on {visible(host)}: whoever reaches this machine reaches this, too")


def allow_descriptors(most_clients: int, each: int) -> int:
    """How many clients the limit of open files leaves room for, once it is raised; each takes some.

    At most so many; others would find no descriptor, and get no answer.
    """
    if sys.platform == "win32":
        return most_clients
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if hard == resource.RLIM_INFINITY:
        return most_clients
    return max(1, min(most_clients, (hard - _OWN_DESCRIPTORS) // each))


def listening_address(text: str) -> tuple[str, int]:
    """Host and port of `HOST:PORT`, or of a port of this machine. Raises UsageError."""
    host, _, port = text.rpartition(":")
    host = host or ("" if ":" in text else "127.0.0.1")
    if not (host and port.isascii() and port.isdigit() and int(port) < 65536):
        raise UsageError(f"expected --proxy HOST:PORT, got {text!r}")
    return host.strip("[]"), int(port)


def upstream_origin(url: str, cacert: Path | None, *, insecure: bool) -> Origin:
    """The upstream of a listening proxy. Raises UsageError, also for the URL of one endpoint."""
    if cacert is not None:
        certificates(str(cacert))
    origin = Origin.parse(url, str(cacert or ""), insecure=insecure)
    dialect = dialect_at(origin.path)
    if dialect is not None and (path := ENDPOINTS[dialect].path) and origin.path.endswith(path):
        base = url.partition("?")[0].rstrip("/").removesuffix(path)
        why = f"--upstream names the endpoint {path}, to which clients add their own paths"
        raise UsageError(why, hint=f"{base.removesuffix(ENDPOINTS[dialect].base)}?")
    return origin


def announce_ready(url: str, port_file: Path | None) -> None:
    """Says that requests may come; the port is in `port_file` before that."""
    write_port(url, port_file)
    put(f"READY {url}")


def write_port(url: str, port_file: Path | None) -> None:
    if port_file is not None:
        write_whole(port_file, f"{url.rsplit(':', 1)[1]}\n".encode())
