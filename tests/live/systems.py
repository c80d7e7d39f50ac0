"""Real servers on this project's tiny model: how each is started, and when it is ready.

Each lives in a virtual environment of its own, whose Python a variable names; see README.md.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Final

import pytest

from reference_impl.model import folder
from tests.live.processes import SERVER, Started, free_port, running

PYTHONS: Final = {
    "transformers-serve": "CONFORMANCE_LIVE_TRANSFORMERS",
    "mlx-lm": "CONFORMANCE_LIVE_MLX",
    "ogx": "CONFORMANCE_LIVE_OGX",
}
_TRANSFORMERS: Final = "from transformers.cli.transformers import main; main()"
# OGX counts tokens of stored files by a table that it fetches when it starts; nothing here stores
# files, and nothing may be fetched.
_OGX: Final = """
import tiktoken.load
tiktoken.load.load_tiktoken_bpe = lambda *_, **__: {bytes([byte]): byte for byte in range(256)}
from ogx.cli.ogx import main
main()
"""
_RUN_YAML: Final = Path(__file__).with_name("ogx-run.yaml")
MODEL: Final = "tiny-think"  # beside the servers, so that no recording holds a path
SCRIPTED: Final = "scripted"  # what a gateway's model is called, here and upstream


@dataclass(frozen=True, slots=True)
class Live:
    """A server that runs: its base URL, and what requests call its model."""

    url: str
    model: str


def python_of(system: str) -> str:
    """The Python that has a system; skips the test where nobody named one."""
    variable = PYTHONS[system]
    python = os.environ.get(variable, "")
    if not python:
        pytest.skip(f"{system} is not here: ${variable} names no Python")
    if not Path(python).is_file():
        pytest.skip(f"{system} is not here: ${variable} names no file: {python}")
    return python


@contextmanager
def reference(work: Path, *arguments: str) -> Iterator[Live]:
    """The reference server."""
    with running(Started((*SERVER, "--port", "0", *arguments), work / "reference.log")) as url:
        yield Live(url, MODEL)


@contextmanager
def transformers_serve(work: Path, variant: str = "think") -> Iterator[Live]:
    """`transformers serve`, with a variant of the model or the model itself."""
    python, port = python_of("transformers-serve"), free_port()
    _lay_out(work, variant)
    where = ("--device", "cpu", "--host", "127.0.0.1", "--port", str(port))
    command = (python, "-c", _TRANSFORMERS, "serve", MODEL, *where)
    with _offline(command, work, "transformers", f"http://127.0.0.1:{port}", "/health") as url:
        yield Live(url, MODEL)


@contextmanager
def mlx_lm(work: Path) -> Iterator[Live]:
    """mlx-lm's server."""
    python, port = python_of("mlx-lm"), free_port()
    _lay_out(work)
    where = ("--host", "127.0.0.1", "--port", str(port))
    command = (python, "-m", "mlx_lm.server", "--model", MODEL, *where)
    with _offline(command, work, "mlx", f"http://127.0.0.1:{port}", "/health") as url:
        yield Live(url, MODEL)


@contextmanager
def ogx(work: Path, upstream: str, model: str) -> Iterator[Live]:
    """OGX in front of a server of Chat Completions."""
    written, port = _ogx_config(work, upstream, model), free_port()
    where = ("--insecure", "--port", str(port))
    command = (python_of("ogx"), "-c", _OGX, "run", str(written), *where)
    url = f"http://127.0.0.1:{port}"
    with _offline(command, work, "ogx", url, "/v1/models"):
        yield Live(url, f"vllm/{model}")


@contextmanager
def ogx_on_mlx(work: Path) -> Iterator[Live]:
    """OGX in front of mlx-lm: two servers."""
    with ExitStack() as stack:
        python_of("ogx")
        behind = stack.enter_context(mlx_lm(work))
        yield stack.enter_context(ogx(work, behind.url, behind.model))


def _lay_out(work: Path, variant: str = "think") -> None:
    """The model where the server starts, by its name."""
    (work / MODEL).symlink_to(folder(variant), target_is_directory=True)


def _ogx_config(work: Path, upstream: str, model: str) -> Path:
    known = {"upstream": upstream, "model": model, "folder": str(work)}
    written = work / "run.yaml"
    written.write_text(Template(_RUN_YAML.read_text()).substitute(known))
    return written


@contextmanager
def _offline(
    command: tuple[str, ...], work: Path, name: str, url: str, health: str
) -> Iterator[str]:
    """A server that must not ask the internet for models."""
    (work / "hf" / "hub").mkdir(parents=True, exist_ok=True)
    environment = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(work / "hf"), "OGX_LOGGING": "all=warning"}
    start = Started(command, work / f"{name}.log", f"{url}{health}", environment, work)
    with running(start):
        yield url
