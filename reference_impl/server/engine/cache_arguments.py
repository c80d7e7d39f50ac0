"""How a model's forward takes its cache: releases of transformers name the argument differently."""

from __future__ import annotations

import inspect

from transformers import PreTrainedModel


def cache_argument(model: PreTrainedModel) -> str:
    """The name of the argument."""
    # transformers 5.24 deprecates `past_key_values`, which every release before knows alone.
    return "cache" if "cache" in inspect.signature(model.forward).parameters else "past_key_values"
