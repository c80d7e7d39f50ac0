"""Logits to tokens: greedy, or by one number that each generation draws for itself."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from .work import Work


def choose(logits: Tensor, works: Sequence[Work]) -> list[int]:
    """One token for each row of `logits` [rows, vocabulary].

    A row's choice depends on its own logits, settings and draw only, never on its neighbours.
    """
    chosen: list[int] = logits.argmax(-1).tolist()
    for nucleus in (False, True):
        rows = [
            row
            for row, work in enumerate(works)
            if work.temperature > 0 and (work.top_p < 1) is nucleus
        ]
        if rows:
            picked = _sampled_tokens(logits[rows], [works[row] for row in rows], nucleus=nucleus)
            for row, token in zip(rows, picked, strict=True):
                chosen[row] = token
    return chosen


def _sampled_tokens(logits: Tensor, works: Sequence[Work], *, nucleus: bool) -> list[int]:
    """The inverse of each row's cumulative distribution, at its drawn number."""
    heat = _settings_column([work.temperature for work in works], logits)
    logits = logits.float()
    shares = torch.softmax((logits - logits.amax(-1, keepdim=True)) / heat, dim=-1)
    order = None
    if nucleus:
        shares, order = shares.sort(dim=-1, descending=True, stable=True)
        before = shares.cumsum(-1) - shares
        shares = shares.masked_fill(before >= _settings_column([w.top_p for w in works], logits), 0)
    sums = shares.cumsum(-1)
    drawn = _settings_column([work.draw() for work in works], logits) * sums[:, -1:]
    # A number rounded up to the whole sum would lie behind the last token that has a share.
    picked = torch.searchsorted(sums, drawn, right=True).clamp(max=logits.shape[-1] - 1)
    last = (shares > 0).long().cumsum(-1).argmax(-1, keepdim=True)
    picked = torch.minimum(picked, last)
    if order is not None:
        picked = order.gather(-1, picked)
    tokens: list[int] = picked[:, 0].tolist()
    return tokens


def _settings_column(values: Sequence[float], like: Tensor) -> Tensor:
    return torch.tensor(values, dtype=torch.float32, device=like.device)[:, None]
