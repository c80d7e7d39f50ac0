"""Clients that make a model of pydantic anew for each event: here it is made once for its type.

Making it is most of what such a client's reading costs, and changes nothing of what it reads.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from types import ModuleType
from typing import Any
from unittest.mock import patch


def kept_models(serializers: ModuleType) -> AbstractContextManager[Any]:
    """While it is open, what the module's `create_model` made for a type is used again."""
    return patch.object(serializers, "create_model", _keeping(serializers))


def _keeping(serializers: ModuleType) -> Callable[..., Any]:
    make = serializers.create_model
    held: dict[object, Any] = _HELD.setdefault(serializers.__name__, {})

    def create_model(name: str, *, body: Any, **more: Any) -> Any:
        key = (name, repr(body))
        if key not in held:
            held[key] = make(name, body=body, **more)
        return held[key]

    return create_model


_HELD: dict[str, dict[object, Any]] = {}
