"""The fused step with kernels of its own, for a GPU: what is left of a layer is six launches.

In a graph a launch costs no time of the host, but some of the GPU's; and for few rows a product
is as fast as its matrix is read, which the library's kernels for many rows do at half the speed.
So norms, gates and sums belong to the product beside them, and one kernel turns all heads and
writes keys and values to their slots. Where triton is missing, `fused_step.py` does it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import triton
from torch import Tensor
from transformers import PreTrainedModel

from .fused_step import Fused, FusedStep, Layer, Norm, Turn
from .kernels import product_kernel, turn_kernel
from .slots import Aim

FEW: Final = 4
"""Rows up to which a product is bound by reading its matrix."""
CHUNK: Final = 1024
"""Columns of a matrix that are read together."""


class KernelStep(FusedStep):
    def __init__(self, model: PreTrainedModel, context: int) -> None:
        super().__init__(model, context)
        config: Any = model.config
        if config.hidden_act != "silu":
            raise AttributeError(f"activation {config.hidden_act!r} has no kernel")
        width = self._turns.cos.shape[-1]
        if width & (width - 1):
            raise AttributeError(f"heads of {width} numbers: a kernel takes powers of two")
        biases = [fused.bias for each in self._layers for fused in (each.project, each.widen)]
        if any(bias is not None for bias in biases):
            raise AttributeError("a kernel adds no bias")
        if model.device.index:
            raise AttributeError("kernels are launched on the first device")

    def _turns_at(self, positions: Tensor) -> Sequence[Turn]:
        del positions  # a kernel looks its own up
        return [(self._turns.cos, self._turns.sin)] * len(self._layers)

    def _projected(self, layer: Layer, hidden: Tensor) -> Tensor:
        if len(hidden) > FEW:
            return super()._projected(layer, hidden)
        projected = _launched_product(hidden, layer.project, norm=layer.before)
        return projected.view(len(hidden), self._heads + 2 * self._pairs, -1)

    def _turned(
        self, layer: Layer, number: int, projected: Tensor, turn: Turn, aim: Aim
    ) -> tuple[Tensor, Tensor, Tensor]:
        rows, heads, width = projected.shape
        keys, values = aim.layer(number)
        queries = projected.new_empty((rows, self._heads, width))
        weights = self._turns.weights
        turn_kernel[rows, heads](
            projected,
            *turn,
            projected if weights is None else weights[number],
            aim.positions,
            queries,
            keys,
            values,
            *keys.stride()[:3],
            layer.epsilon or 0.0,
            heads=self._heads,
            pairs=self._pairs,
            width=width,
            normed=weights is not None,
            num_warps=1,
        )
        return queries, keys, values

    def _widened(self, layer: Layer, hidden: Tensor) -> Tensor:
        if len(hidden) > FEW:
            return super()._widened(layer, hidden)
        return _launched_product(hidden, layer.widen, norm=layer.between, gated=True)

    def _add(self, hidden: Tensor, product: Fused, given: Tensor) -> None:
        if len(hidden) > FEW or product.bias is not None:
            super()._add(hidden, product, given)
        else:
            _launched_product(given, product, onto=hidden)


def _launched_product(
    given: Tensor,
    fused: Fused,
    *,
    norm: Norm | None = None,
    gated: bool = False,
    onto: Tensor | None = None,
) -> Tensor:
    """`given` [rows, columns], normed, times the matrix; gated by its first half, or summed up."""
    rows, columns = given.shape
    count = len(fused.weight) // (2 if gated else 1)
    out = given.new_empty((rows, count)) if onto is None else onto
    tile = 4 if count >= 2048 else 2
    product_kernel[triton.cdiv(count, tile), rows](
        given,
        given if norm is None else norm.weight,
        fused.weight,
        out,
        count,
        0.0 if norm is None else norm.epsilon,
        columns=columns,
        normed=norm is not None,
        gated=gated,
        summed=onto is not None,
        tile=tile,
        chunk=CHUNK,
        num_warps=4,
    )
    return out
