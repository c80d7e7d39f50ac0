"""A request that is not answered: whose fault, which status, and each API's own envelope."""

from __future__ import annotations

from typing import Any, Final

_OPENAI_TYPES: Final = {
    401: "authentication_error",
    404: "not_found_error",
    405: "invalid_request_error",
    500: "server_error",
}
_ANTHROPIC_TYPES: Final = {
    401: "authentication_error",
    404: "not_found_error",
    413: "request_too_large",
    500: "api_error",
}

_GOOGLE_STATUS: Final = {
    401: "UNAUTHENTICATED",
    404: "NOT_FOUND",
    405: "UNIMPLEMENTED",
    500: "INTERNAL",
}


class Refusal(Exception):  # noqa: N818 - what it is, for every status
    """The request cannot be served as it stands.

    `param` names the field at fault and `code` the reason in one word, where the API has such.
    """

    def __init__(
        self, message: str, *, status: int = 400, param: str | None = None, code: str | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.param = param
        self.code = code


def failed(message: str) -> Refusal:
    """Return the error that ends an answer that had begun."""
    return Refusal(message, status=500)


def openai_error(refusal: Refusal) -> dict[str, Any]:
    """The envelope of Chat Completions, Responses and the model list."""
    kind = _OPENAI_TYPES.get(refusal.status, "invalid_request_error")
    about = {"message": refusal.message, "type": kind}
    return {"error": {**about, "param": refusal.param, "code": refusal.code}}


def ollama_error(refusal: Refusal) -> dict[str, Any]:
    return {"error": refusal.message}


def message_error(refusal: Refusal) -> dict[str, Any]:
    """The envelope of Cohere's Chat and of Converse."""
    return {"message": refusal.message}


def google_error(refusal: Refusal) -> dict[str, Any]:
    word = _GOOGLE_STATUS.get(refusal.status, "INVALID_ARGUMENT")
    return {"error": {"code": refusal.status, "message": refusal.message, "status": word}}


def interactions_error(refusal: Refusal) -> dict[str, Any]:
    word = _GOOGLE_STATUS.get(refusal.status, "INVALID_ARGUMENT").lower()
    return {"error": {"code": word, "message": refusal.message}}


def anthropic_error(refusal: Refusal) -> dict[str, Any]:
    kind = _ANTHROPIC_TYPES.get(refusal.status, "invalid_request_error")
    return {"type": "error", "error": {"type": kind, "message": refusal.message}}
