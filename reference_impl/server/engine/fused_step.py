"""A step written out for the Llama and Qwen family: the same arithmetic in fewer calls.

With small models and few rows most of a step is Python, and on a GPU most of it is launching
kernels: transformers makes some hundreds of calls for one token. Here projections that read the
same input are one matrix, sums belong to the product before them, rotations are looked up and hold
the weights of the norms before them, and heads that share keys are queries of one attention.

Whether a model is of this family is not asked by name: the constructor raises AttributeError where
a part is missing, and `fitting.py` compares the logits before this is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import torch
import torch.nn.functional as F  # noqa: N812 - so it is called everywhere
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from transformers import PreTrainedModel

from .slots import Aim

STATIC_ROTATIONS: Final = frozenset({"default", "linear", "llama3", "yarn"})
"""Kinds whose angles depend on the position alone, not on how long the row is."""

UNPLANNED: Final = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
"""Attention that makes no plan for each length of prompt, as cuDNN does."""

Turn = tuple[Tensor, Tensor]


class FusedStep:
    """Weights are shared with the model, not copied."""

    def __init__(self, model: PreTrainedModel, context: int) -> None:
        inner: Any = model.model
        config: Any = model.config
        rotation = inner.rotary_emb
        if rotation.rope_type not in STATIC_ROTATIONS:
            raise AttributeError(f"rotation {rotation.rope_type!r} depends on the length")
        self._embed: Tensor = inner.embed_tokens.weight
        self._norm = Norm(inner.norm)
        self._head: Any = model.lm_head
        self._heads: int = config.num_attention_heads
        self._pairs: int = config.num_key_value_heads
        self._layers = [Layer.of(layer) for layer in inner.layers]
        positions = torch.arange(context, device=self._embed.device)[None]
        cos, sin = rotation(self._embed, positions)
        self._turns = _Turns(cos[0], sin[0], inner.layers, self._heads, self._pairs)
        self._open = self._embed.new_zeros(())
        self._shut = self._embed.new_full((), -torch.inf)

    def __call__(self, tokens: Tensor, aim: Aim) -> Tensor:
        hidden = F.embedding(tokens, self._embed)
        bias = torch.where(aim.mask, self._open, self._shut)
        bias = bias.expand(-1, self._pairs, -1, -1).reshape(-1, 1, 1, aim.longest)
        turns = self._turns_at(aim.positions)
        for number, (layer, turn) in enumerate(zip(self._layers, turns, strict=True)):
            projected = self._projected(layer, hidden)
            queries, keys, values = self._turned(layer, number, projected, turn, aim)
            mixed = F.scaled_dot_product_attention(
                queries.reshape(-1, 1, self._heads // self._pairs, queries.shape[-1]),
                keys.flatten(0, 1)[:, None],
                values.flatten(0, 1)[:, None],
                bias,
                scale=layer.scale,
            )
            self._add(hidden, layer.output, mixed.reshape(len(hidden), -1))
            self._add(hidden, layer.narrow, self._widened(layer, hidden))
        logits: Tensor = self._head(self._norm(hidden))
        return logits

    def prefill(self, ids: Tensor, ends: Tensor) -> tuple[Tensor, Sequence[Turn]]:
        count, length = ids.shape
        hidden = F.embedding(ids.flatten(), self._embed)
        turns = self._turns.each(torch.arange(length, device=ids.device).repeat(count))
        kept: list[Turn] = []
        shared = self._heads // self._pairs
        for layer, turn in zip(self._layers, turns, strict=True):
            queries, keys, values = (
                part.unflatten(0, (count, length)).transpose(1, 2)
                for part in self._split(layer, self._projected(layer, hidden), turn)
            )
            kept.append((keys, values))
            with sdpa_kernel(UNPLANNED):
                mixed = F.scaled_dot_product_attention(
                    queries,
                    keys.repeat_interleave(shared, 1),
                    values.repeat_interleave(shared, 1),
                    is_causal=True,
                    scale=layer.scale,
                )
            self._add(hidden, layer.output, mixed.transpose(1, 2).reshape(len(hidden), -1))
            self._add(hidden, layer.narrow, self._widened(layer, hidden))
        last = hidden.view(count, length, -1)[:, ends]
        return self._head(self._norm(last)), kept

    def _turns_at(self, positions: Tensor) -> Sequence[Turn]:
        return self._turns.at(positions)

    def _projected(self, layer: Layer, hidden: Tensor) -> Tensor:
        """Queries, keys and values: [rows, heads, width]."""
        return layer.project(layer.before(hidden)).view(
            len(hidden), self._heads + 2 * self._pairs, -1
        )

    def _turned(
        self, layer: Layer, number: int, projected: Tensor, turn: Turn, aim: Aim
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Queries of the new tokens, and keys and values of all."""
        queries, keys, values = self._split(layer, projected, turn)
        return queries, *aim.append(number, keys, values)

    def _split(self, layer: Layer, projected: Tensor, turn: Turn) -> tuple[Tensor, Tensor, Tensor]:
        heads, both = self._heads, self._heads + self._pairs
        turned = _turned_heads(layer.level(projected[:, :both]), *turn)
        return turned[:, :heads], turned[:, heads:], projected[:, both:]

    def _widened(self, layer: Layer, hidden: Tensor) -> Tensor:
        gate, up = layer.widen(layer.between(hidden)).chunk(2, dim=-1)
        out: Tensor = layer.activate(gate) * up
        return out

    def _add(self, hidden: Tensor, product: Fused, given: Tensor) -> None:
        hidden.addmm_(given, product.weight.t())
        if product.bias is not None:
            hidden.add_(product.bias)


class _Turns:
    """The factors of heads, and of their swapped halves, at each position in each layer.

    Where a layer norms its heads, this holds the weights of that norm too.
    """

    def __init__(
        self, cos: Tensor, sin: Tensor, layers: Iterable[Any], heads: int, pairs: int
    ) -> None:
        half = cos.shape[-1] // 2
        self.cos = cos[:, None]
        self.sin = torch.cat((-sin[:, :half], sin[:, half:]), dim=-1)[:, None]
        found = [_weights_of_norms(layer.self_attn, heads, pairs) for layer in layers]
        self._count = len(found)
        normed = [weight for weight in found if weight is not None]
        self.weights = torch.stack(normed)[:, None] if normed else None
        self._swapped = None if self.weights is None else _swapped_halves(self.weights)

    def at(self, positions: Tensor) -> Sequence[Turn]:
        cos, sin = self.cos[positions], self.sin[positions]
        if self.weights is None or self._swapped is None:
            return [(cos, sin)] * self._count
        return list(zip(cos * self.weights, sin * self._swapped, strict=True))

    def each(self, positions: Tensor) -> Iterator[Turn]:
        """The same, layer by layer: for whole prompts all of them are too many."""
        cos, sin = self.cos[positions], self.sin[positions]
        for number in range(self._count):
            if self.weights is None or self._swapped is None:
                yield cos, sin
            else:
                yield cos * self.weights[number], sin * self._swapped[number]


def _weights_of_norms(attention: Any, heads: int, pairs: int) -> Tensor | None:
    """Of the norms of queries and keys: [heads + pairs, width]."""
    if getattr(attention, "q_norm", None) is None:
        return None
    query, key = attention.q_norm.weight, attention.k_norm.weight
    return torch.cat((query.expand(heads, -1), key.expand(pairs, -1)))


class Norm:
    """Root mean square."""

    def __init__(self, module: Any) -> None:
        self.weight: Tensor = module.weight
        self.epsilon: float = module.variance_epsilon

    def __call__(self, hidden: Tensor) -> Tensor:
        return F.rms_norm(hidden, self.weight.shape, self.weight, self.epsilon)


class Fused:
    """Linear modules that read the same input, as one."""

    def __init__(self, *modules: Any) -> None:
        self.weight = torch.cat([module.weight.data for module in modules])
        biases = [module.bias for module in modules if module.bias is not None]
        self.bias = torch.cat(biases) if biases else None
        first = 0
        for module in modules:
            rows = len(module.weight)
            module.weight.data = self.weight[first : first + rows]  # so that nothing is kept twice
            first += rows

    def __call__(self, hidden: Tensor) -> Tensor:
        return F.linear(hidden, self.weight, self.bias)


@dataclass(frozen=True, slots=True)
class Layer:
    before: Norm
    project: Fused
    epsilon: float | None
    """Of the norm of queries and keys."""
    scale: float
    output: Fused
    between: Norm
    widen: Fused
    activate: Any
    narrow: Fused

    @classmethod
    def of(cls, module: Any) -> Layer:
        attention, mlp = module.self_attn, module.mlp
        norm = getattr(attention, "q_norm", None)
        return cls(
            before=Norm(module.input_layernorm),
            project=Fused(attention.q_proj, attention.k_proj, attention.v_proj),
            epsilon=None if norm is None else norm.variance_epsilon,
            scale=attention.scaling,
            output=Fused(attention.o_proj),
            between=Norm(module.post_attention_layernorm),
            widen=Fused(mlp.gate_proj, mlp.up_proj),
            activate=mlp.act_fn,
            narrow=Fused(mlp.down_proj),
        )

    def level(self, heads: Tensor) -> Tensor:
        if self.epsilon is None:
            return heads
        return F.rms_norm(heads, heads.shape[-1:], None, self.epsilon)


def _turned_heads(heads: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotate each pair of numbers by its position's angle; halves stand for the pairs."""
    return (heads * cos).addcmul_(_swapped_halves(heads), sin)


def _swapped_halves(heads: Tensor) -> Tensor:
    half = heads.shape[-1] // 2
    return torch.cat((heads[..., half:], heads[..., :half]), dim=-1)
