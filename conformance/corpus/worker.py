"""A worker process: takes tasks from standard input, gives outcomes, ends with its driver.

A message is a length of eight bytes, then the value.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import IO, Final, TypeVar

import msgspec

from conformance.core.errors import ConformanceError, SpecError
from conformance.corpus.fragment_work import FragmentOutcome, FragmentTask, FragmentWorker

MOST_MEMORY: Final = 4 << 30  # bytes of a worker: one row may be read and judged in it
_LENGTH: Final = 8
Message = TypeVar("Message")


def serve_tasks() -> None:
    cap_memory(MOST_MEMORY)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the driver's: it ends the workers
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever prints does not break a message
    worker = FragmentWorker()
    while (task := receive_message(sys.stdin.buffer, FragmentTask)) is not None:
        try:
            send_message(answers, answer_task(worker, task))
        except OSError:
            return


def answer_task(worker: FragmentWorker, task: FragmentTask) -> FragmentOutcome:
    """The outcome of a task; what is wrong with the whole run as its `error`."""
    try:
        return worker.do_task(task)
    except SpecError as err:
        return FragmentOutcome(error=f"SpecError {err}")
    except ConformanceError as err:
        return FragmentOutcome(error=f"UsageError {err}")


def cap_memory(size: int) -> None:
    """Lets this process have no more than so many bytes of its own, or what it was allowed.

    Beyond that it dies alone, before the system ends others for want of memory.
    """
    try:
        import resource  # noqa: PLC0415  # not every system has it
    except ImportError:
        return
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    allowed = size if most == resource.RLIM_INFINITY else min(size, most)
    resource.setrlimit(resource.RLIMIT_DATA, (allowed, most))


def send_message(stream: IO[bytes], value: object) -> None:
    """Writes a value. Raises OSError where the other side is gone."""
    data = msgspec.msgpack.encode(value)
    stream.write(len(data).to_bytes(_LENGTH, "big"))
    stream.write(data)
    stream.flush()


def receive_message(stream: IO[bytes], kind: type[Message]) -> Message | None:
    """The next value; None where the other side is gone."""
    head = stream.read(_LENGTH)
    if len(head) < _LENGTH:
        return None
    size = int.from_bytes(head, "big")
    data = stream.read(size)
    return msgspec.msgpack.decode(data, type=kind) if len(data) == size else None
