"""The model list: what is served, and whether and how hard it thinks."""

from __future__ import annotations

from typing import Any

from .fields import Fields
from .plan import check_model
from .service import Service


def listed(service: Service, _: Fields) -> dict[str, Any]:
    """All models, of which there is one: as OpenAI lists them, and as Cohere does."""
    named = {"name": service.model_id, "endpoints": ["chat"]}
    return {"object": "list", "data": [_model_card(service)], "models": [named]}


def google_list(service: Service, _: Fields) -> dict[str, Any]:
    methods = ["generateContent", "createInteraction"]
    named = {"name": f"models/{service.model_id}", "supportedGenerationMethods": methods}
    return {"models": [named]}


def entry(service: Service, fields: Fields) -> dict[str, Any]:
    """One model. Raises Refusal for one that is not served."""
    check_model(service, fields["model"])
    return _model_card(service)


def _model_card(service: Service) -> dict[str, Any]:
    """Thinking and its levels come from one fact: whether the tokenizer marks thinking."""
    thinks = service.model.markers is not None
    return {
        "id": service.model_id,
        "object": "model",
        "created": service.started,
        "owned_by": "reference",
        "supports_thinking": thinks,
        "thinking_levels": list(service.settings.levels) if thinks else [],
        "context_length": service.model.context,
    }
