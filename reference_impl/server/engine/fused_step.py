"""A step written out for the Llama and Qwen family: the same arithmetic in fewer calls.

With small models and few rows most of a step is Python, and on a GPU most of it is launching
kernels: transformers makes some hundreds of calls for one token. Here projections that read the
same input are one matrix, sums belong to the product before them, rotations are looked up and hold
the weights of the norms before them, and heads that share keys are queries of one attention.

Whether a model is of this family is not asked by name: the constructor raises AttributeError where
a part is missing, and `fitting.py` compares the logits before this is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import torch
import torch.nn.functional as F  # noqa: N812 - so it is called everywhere
from torch import Tensor
from transformers import PreTrainedModel

from .slots import Aim

STATIC_ROTATIONS: Final = frozenset({"default", "linear", "llama3", "yarn"})
"""Kinds whose angles depend on the position alone, not on how long the row is."""


_Turn = tuple[Tensor, Tensor]
_Keep = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
"""Appends keys and values of one layer and returns all of them."""


class FusedStep:
    """Weights are shared with the model, not copied."""

    def __init__(self, model: PreTrainedModel, context: int) -> None:
        inner: Any = model.model
        config: Any = model.config
        rotation = inner.rotary_emb
        if rotation.rope_type not in STATIC_ROTATIONS:
            raise AttributeError(f"rotation {rotation.rope_type!r} depends on the length")
        self._embed: Tensor = inner.embed_tokens.weight
        self._norm = _Norm(inner.norm)
        self._head: Any = model.lm_head
        self._heads: int = config.num_attention_heads
        self._pairs: int = config.num_key_value_heads
        self._layers = [_Layer.of(layer) for layer in inner.layers]
        positions = torch.arange(context, device=self._embed.device)[None]
        cos, sin = rotation(self._embed, positions)
        self._turns = _Turns(cos[0], sin[0], inner.layers, self._heads, self._pairs)
        self._open = self._embed.new_zeros(())
        self._shut = self._embed.new_full((), -torch.inf)

    def __call__(self, tokens: Tensor, aim: Aim) -> Tensor:
        hidden = F.embedding(tokens, self._embed)
        bias = torch.where(aim.mask, self._open, self._shut)
        bias = bias.expand(-1, self._pairs, -1, -1).reshape(-1, 1, 1, aim.longest)
        turns = self._turns.at(aim.positions)
        for number, (layer, turn) in enumerate(zip(self._layers, turns, strict=True)):
            keep = partial(aim.append, number)
            mixed = self._attention(layer, layer.before(hidden), turn, bias, keep)
            layer.output.add_to(hidden, mixed)
            layer.narrow.add_to(hidden, layer.widened(layer.between(hidden)))
        logits: Tensor = self._head(self._norm(hidden))
        return logits

    def _attention(
        self, layer: _Layer, hidden: Tensor, turn: _Turn, bias: Tensor, keep: _Keep
    ) -> Tensor:
        heads, pairs = self._heads, self._pairs
        projected = layer.project(hidden).view(len(hidden), heads + 2 * pairs, -1)
        turned = _turn(layer.level(projected[:, : heads + pairs]), *turn)
        keys, values = keep(turned[:, heads:], projected[:, heads + pairs :])
        width = turned.shape[-1]
        mixed = F.scaled_dot_product_attention(
            turned[:, :heads].reshape(-1, 1, heads // pairs, width),
            keys.flatten(0, 1)[:, None],
            values.flatten(0, 1)[:, None],
            bias,
            scale=layer.scale,
        )
        return mixed.reshape(len(hidden), -1)


class _Turns:
    """What heads are multiplied by, and their swapped halves, at each position in each layer.

    Where a layer norms its heads, this holds the weights of that norm too.
    """

    def __init__(
        self, cos: Tensor, sin: Tensor, layers: Iterable[Any], heads: int, pairs: int
    ) -> None:
        half = cos.shape[-1] // 2
        self._cos = cos[:, None]
        self._sin = torch.cat((-sin[:, :half], sin[:, half:]), dim=-1)[:, None]
        weights = [_weights(layer.self_attn, heads, pairs) for layer in layers]
        self._count = len(weights)
        normed = [weight for weight in weights if weight is not None]
        self._weights = torch.stack(normed)[:, None] if normed else None
        self._swapped = None if self._weights is None else _swap(self._weights)

    def at(self, positions: Tensor) -> Sequence[_Turn]:
        cos, sin = self._cos[positions], self._sin[positions]
        if self._weights is None or self._swapped is None:
            return [(cos, sin)] * self._count
        pairs = zip(cos * self._weights, sin * self._swapped, strict=True)
        return list(pairs)


def _weights(attention: Any, heads: int, pairs: int) -> Tensor | None:
    """Of the norms of queries and keys: [heads + pairs, width]."""
    if getattr(attention, "q_norm", None) is None:
        return None
    query, key = attention.q_norm.weight, attention.k_norm.weight
    return torch.cat((query.expand(heads, -1), key.expand(pairs, -1)))


class _Norm:
    """Root mean square."""

    def __init__(self, module: Any) -> None:
        self._weight: Tensor = module.weight
        self._epsilon: float = module.variance_epsilon

    def __call__(self, hidden: Tensor) -> Tensor:
        return F.rms_norm(hidden, self._weight.shape, self._weight, self._epsilon)


class _Fused:
    """Linear modules that read the same input, as one."""

    def __init__(self, *modules: Any) -> None:
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

    def add_to(self, hidden: Tensor, given: Tensor) -> None:
        hidden.addmm_(given, self._weight.t())
        if self._bias is not None:
            hidden.add_(self._bias)


@dataclass(frozen=True, slots=True)
class _Layer:
    before: _Norm
    project: _Fused
    epsilon: float | None
    """Of the norm of queries and keys."""
    scale: float
    output: _Fused
    between: _Norm
    widen: _Fused
    activate: Any
    narrow: _Fused

    @classmethod
    def of(cls, module: Any) -> _Layer:
        attention, mlp = module.self_attn, module.mlp
        norm = getattr(attention, "q_norm", None)
        return cls(
            before=_Norm(module.input_layernorm),
            project=_Fused(attention.q_proj, attention.k_proj, attention.v_proj),
            epsilon=None if norm is None else norm.variance_epsilon,
            scale=attention.scaling,
            output=_Fused(attention.o_proj),
            between=_Norm(module.post_attention_layernorm),
            widen=_Fused(mlp.gate_proj, mlp.up_proj),
            activate=mlp.act_fn,
            narrow=_Fused(mlp.down_proj),
        )

    def level(self, heads: Tensor) -> Tensor:
        if self.epsilon is None:
            return heads
        return F.rms_norm(heads, heads.shape[-1:], None, self.epsilon)

    def widened(self, hidden: Tensor) -> Tensor:
        gate, up = self.widen(hidden).chunk(2, dim=-1)
        out: Tensor = self.activate(gate) * up
        return out


def _turn(heads: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotate each pair of numbers by its position's angle; halves stand for the pairs."""
    return (heads * cos).addcmul_(_swap(heads), sin)


def _swap(heads: Tensor) -> Tensor:
    half = heads.shape[-1] // 2
    return torch.cat((heads[..., half:], heads[..., :half]), dim=-1)
