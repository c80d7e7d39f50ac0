"""A step written out for the Llama and Qwen family: the same arithmetic in fewer calls.

With small models and few rows most of a step is Python: transformers makes some hundreds of calls
for one token. Here projections that read the same input are one matrix, norms are one call, and
rotations are looked up.

Whether a model is of this family is not asked by name: the constructor raises AttributeError where
a part is missing, and `fitting.py` compares the logits before this is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import torch
import torch.nn.functional as F  # noqa: N812 - so it is called everywhere
from torch import Tensor
from transformers import PreTrainedModel

from .slots import Aim

STATIC_ROTATIONS: Final = frozenset({"default", "linear", "llama3", "yarn"})
"""Kinds whose angles depend on the position alone, not on how long the row is."""


class FusedStep:
    """Weights are shared with the model, not copied."""

    def __init__(self, model: PreTrainedModel, context: int) -> None:
        inner: Any = model.model
        config: Any = model.config
        rotation = inner.rotary_emb
        if rotation.rope_type not in STATIC_ROTATIONS:
            raise AttributeError(f"rotation {rotation.rope_type!r} depends on the length")
        self._embed = inner.embed_tokens.weight
        self._norm = _Norm(inner.norm)
        self._head: Any = model.lm_head
        self._heads: int = config.num_attention_heads
        self._pairs: int = config.num_key_value_heads
        self._layers = [_Layer.of(layer) for layer in inner.layers]
        positions = torch.arange(context, device=self._embed.device)[None]
        cos, sin = rotation(self._embed, positions)
        self._cos, self._sin = cos[0, :, None], sin[0, :, None]

    def __call__(self, tokens: Tensor, aim: Aim) -> Tensor:
        hidden = F.embedding(tokens, self._embed)
        turn = self._cos[aim.positions], self._sin[aim.positions]
        for number, layer in enumerate(self._layers):
            hidden = hidden + self._attention(layer, number, layer.before(hidden), turn, aim)
            hidden = hidden + layer.forward(layer.between(hidden))
        logits: Tensor = self._head(self._norm(hidden))
        return logits

    def _attention(
        self, layer: _Layer, number: int, hidden: Tensor, turn: tuple[Tensor, Tensor], aim: Aim
    ) -> Tensor:
        heads, pairs = self._heads, self._pairs
        projected = layer.project(hidden).view(len(hidden), heads + 2 * pairs, -1)
        queries, keys, values = torch.split(projected, [heads, pairs, pairs], dim=1)
        turned = _turn(torch.cat((layer.query(queries), layer.key(keys)), dim=1), *turn)
        k, v = aim.store.append(number, turned[:, heads:], values, aim.positions, aim.longest)
        mixed = F.scaled_dot_product_attention(
            turned[:, :heads, None], k, v, aim.mask, scale=layer.scale, enable_gqa=heads != pairs
        )
        out: Tensor = layer.output(mixed.reshape(len(hidden), -1))
        return out


class _Norm:
    """Root mean square; None changes nothing."""

    def __init__(self, module: Any) -> None:
        self._weight: Tensor | None = None if module is None else module.weight
        self._epsilon: float = 0.0 if module is None else module.variance_epsilon

    def __call__(self, hidden: Tensor) -> Tensor:
        if self._weight is None:
            return hidden
        return F.rms_norm(hidden, self._weight.shape, self._weight, self._epsilon)


class _Fused:
    """Linear modules that read the same input, as one."""

    def __init__(self, modules: Sequence[Any]) -> None:
        self._weight = torch.cat([module.weight.data for module in modules])
        biases = [module.bias for module in modules if module.bias is not None]
        self._bias = torch.cat(biases) if biases else None
        first = 0
        for module in modules:
            rows = len(module.weight)
            module.weight.data = self._weight[first : first + rows]  # so that nothing is kept twice
            first += rows

    def __call__(self, hidden: Tensor) -> Tensor:
        return F.linear(hidden, self._weight, self._bias)


@dataclass(frozen=True, slots=True)
class _Layer:
    before: _Norm
    project: _Fused
    query: _Norm
    key: _Norm
    scale: float
    output: Any
    between: _Norm
    widen: _Fused
    activate: Any
    narrow: Any

    @classmethod
    def of(cls, module: Any) -> _Layer:
        attention, mlp = module.self_attn, module.mlp
        return cls(
            before=_Norm(module.input_layernorm),
            project=_Fused((attention.q_proj, attention.k_proj, attention.v_proj)),
            query=_Norm(getattr(attention, "q_norm", None)),
            key=_Norm(getattr(attention, "k_norm", None)),
            scale=attention.scaling,
            output=attention.o_proj,
            between=_Norm(module.post_attention_layernorm),
            widen=_Fused((mlp.gate_proj, mlp.up_proj)),
            activate=mlp.act_fn,
            narrow=mlp.down_proj,
        )

    def forward(self, hidden: Tensor) -> Tensor:
        gate, up = self.widen(hidden).chunk(2, dim=-1)
        out: Tensor = self.narrow(self.activate(gate) * up)
        return out


def _turn(heads: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotate each pair of numbers by its position's angle; halves stand for the pairs."""
    half = heads.shape[-1] // 2
    swapped = torch.cat((-heads[..., half:], heads[..., :half]), dim=-1)
    return heads * cos + swapped * sin
