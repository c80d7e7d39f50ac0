"""How a model's forward takes its cache: releases of transformers name the argument differently."""

from __future__ import annotations

import inspect

from transformers import PreTrainedModel

# transformers 5.24 deprecates the second name, which every release before knows alone.
_NAMES = ("cache", "past_key_values")


def cache_argument(model: PreTrainedModel) -> str:
    """The name of the argument, where the model, what it extends or what it holds names it."""
    for kind in (*type(model).__mro__, *type(model.base_model).__mro__):
        forward = vars(kind).get("forward")
        known = inspect.signature(forward).parameters if callable(forward) else ()
        for name in _NAMES:
            if name in known:
                return name
    return _NAMES[-1]
