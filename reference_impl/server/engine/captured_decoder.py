"""A decode step as a CUDA graph: one launch in place of hundreds.

On a GPU a step of a small model is mostly the host launching kernels. A graph is launched whole,
but has fixed shapes and addresses: tokens and positions are copied to where it reads them, and the
numbers of rows and of tokens that they look at are rounded up, so that few graphs do for all.

Rows that fill up a bucket are slots which nobody has; a row that joins overwrites what they wrote.
Running a step twice is harmless: it writes the same keys and values to the same positions.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

from .slots import FIRST_CAPACITY, Aim, EagerDecoder, SlotStore, Step

Run = Callable[[], Tensor]
Capture = Callable[[Run], Run]
"""A computation to its replay, which fills the same tensor every time."""

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Graph:
    inputs: Tensor
    """Tokens and positions: [2, rows]."""
    replay: Run


class CapturedDecoder:
    """A graph per bucket of rows and reach, made when first needed; all anew with another store.

    Where none can be made, `eager` goes on alone; that is logged once.
    """

    def __init__(self, eager: EagerDecoder, capture: Capture) -> None:
        self.step: Step = eager.step
        self._eager = eager
        self.device = eager.device
        self._capture: Capture | None = capture
        self._graphs: dict[tuple[int, int], _Graph] = {}
        self._place: object = None

    def __call__(self, tokens: Sequence[int], positions: Sequence[int], store: SlotStore) -> Tensor:
        if store.place is not self._place:
            self._graphs.clear()
            self._place = store.place
        rows = min(_next_power_of_two(len(tokens), 1), store.slots)
        reach = min(_next_power_of_two(max(positions) + 1, FIRST_CAPACITY), store.capacity)
        filling = [0] * (rows - len(tokens))
        inputs = torch.tensor(([*tokens, *filling], [*positions, *filling]))
        graph = self._graphs.get((rows, reach))
        if graph is None:
            graph = self._captured(inputs.to(self.device), reach, store)
            if graph is None:
                return self._eager(tokens, positions, store)
            self._graphs[rows, reach] = graph
        else:
            graph.inputs.copy_(inputs)
        # The next replay overwrites the graph's own tensor, but a caller may keep this one.
        return graph.replay()[: len(tokens)].clone()

    def _captured(self, inputs: Tensor, reach: int, store: SlotStore) -> _Graph | None:
        if self._capture is None:
            return None
        tokens, positions = inputs

        def run() -> Tensor:
            return self.step(tokens, Aim.at(store, positions, reach))

        try:
            return _Graph(inputs, self._capture(run))
        except Exception as err:  # noqa: BLE001 - the model's code may raise anything; eager is right
            self.give_up(" ".join(f"{type(err).__name__}: {err}".split()))
            return None

    def give_up(self, reason: str) -> None:
        """Be eager from now on."""
        _log.warning("decoding without CUDA graphs: %s", reason)
        self._capture = None
        self._graphs.clear()


def cuda_capture(device: torch.device) -> Capture:
    """Graphs of one device that share the memory between their operations.

    They may, because they run one after another and their results are copied.
    """
    stream = torch.cuda.Stream(device)
    pool = torch.cuda.graph_pool_handle()

    def capture(run: Run) -> Run:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.device(device):
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                run()  # libraries set themselves up, which no capture permits
            torch.cuda.current_stream().wait_stream(stream)
            with torch.cuda.graph(
                graph, pool=pool, stream=stream, capture_error_mode="thread_local"
            ):
                filled = run()

        def replay() -> Tensor:
            graph.replay()
            return filled

        return replay

    return capture


def _next_power_of_two(count: int, least: int) -> int:
    """The next power of two."""
    return max(least, 1 << (count - 1).bit_length())
