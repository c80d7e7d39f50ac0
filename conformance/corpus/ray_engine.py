"""Tasks done by Ray: on this machine alone, or on the cluster that the user names.

Only tasks and outcomes travel: references, and the encoded tables of a fragment. Ray tries nothing
again by itself (its own default for data is for ever): what a death means is decided as it is for
processes of this machine (`engines.py`). A cluster has the packages that its nodes have: one of
another version judges nothing.
"""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from functools import cache
from typing import Any, Final

import msgspec

from conformance import __version__
from conformance.core.errors import HarnessError, UsageError
from conformance.core.excerpts import clipped
from conformance.corpus.arrow import load_module
from conformance.corpus.engines import WorkerDeath, raise_error
from conformance.corpus.fragment_work import FragmentOutcome, FragmentTask, FragmentWorker
from conformance.corpus.worker import answer_task
from conformance.recordings.parallel import processor_count

_PATIENCE: Final = 5  # seconds for a cluster to answer
_SAME: Final = f"install reasoning-conformance[corpus]=={__version__} on every node"
_TOKEN: Final = "a cluster that asks for a token needs RAY_AUTH_MODE=token here, too"  # noqa: S105
# Ray reports every run to its makers unless an option says otherwise, and warns of accelerators.
_QUIET: Final = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DEDUP_LOGS": "0",
}


class RayEngine:
    """So many tasks at once on Ray, by default one a processor of this machine or of the cluster.

    Raises UsageError where it is not installed or not there.
    """

    def __init__(self, places: int | None, address: str | None = None) -> None:
        for name, value in _QUIET.items():
            os.environ.setdefault(name, value)
        self._ray = load_module("ray")
        self._folder: str | None = None
        self._begin(places or processor_count(), address)
        task = self._ray.remote(num_cpus=1, max_retries=0, retry_exceptions=False)
        self._task = task(do_encoded_task)
        self.places = places or max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def _begin(self, places: int, address: str | None) -> None:
        quiet = {"log_to_driver": False, "logging_level": "ERROR"}
        try:
            if address is not None:
                _expect_listener(address)
                self._ray.init(address=address, **quiet)
                return
            self._folder = tempfile.mkdtemp(prefix="ray")  # short: a socket's path has a limit
            self._ray.init(
                address="local",
                num_cpus=places,
                include_dashboard=False,
                _node_ip_address="127.0.0.1",
                _temp_dir=self._folder,
                **quiet,
            )
        except (ConnectionError, OSError, RuntimeError, ValueError) as err:
            reason = clipped(" ".join(str(err).split()), 300)
            self.stop()
            is_refused = "Failed to connect to Ray" in reason and "RAY_AUTH_MODE" not in os.environ
            hint = _TOKEN if is_refused else ""
            raise UsageError(f"Ray cannot be begun: {reason}", hint=hint) from err

    def run_task(self, _place: int, task: FragmentTask) -> FragmentOutcome:
        errors = self._ray.exceptions
        try:
            data = self._ray.get(self._task.remote(msgspec.msgpack.encode(task), __version__))
        except (
            errors.WorkerCrashedError,
            errors.OutOfMemoryError,
            errors.NodeDiedError,
            errors.ObjectLostError,
            errors.RaySystemError,
        ) as err:
            raise WorkerDeath from err
        except errors.RayError as err:
            reason = str(err).strip().splitlines()[-1]
            hint = _SAME if "No module named" in reason else ""
            raise HarnessError(f"a task failed on Ray: {reason}", hint=hint) from err
        return raise_error(msgspec.msgpack.decode(data, type=FragmentOutcome))

    def stop(self) -> None:
        self._ray.shutdown()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None


def _expect_listener(address: str) -> None:
    """Raises OSError where nothing listens there: Ray itself would try for minutes."""
    host, _, port = address.rpartition("//")[2].rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host, int(port)), _PATIENCE).close()


def do_encoded_task(data: bytes, version: str) -> Any:
    """A task and its outcome, both encoded; done by a process of Ray.

    One that is not of this version does nothing: its verdicts would be those of other rules.
    """
    if version != __version__:
        message = f"the workers of Ray have reasoning-conformance {__version__}, not {version}"
        return msgspec.msgpack.encode(FragmentOutcome(error=f"UsageError {message}"))
    task = msgspec.msgpack.decode(data, type=FragmentTask)
    return msgspec.msgpack.encode(answer_task(_process_worker(), task))


@cache
def _process_worker() -> FragmentWorker:
    """What the tasks of one process share."""
    return FragmentWorker()
