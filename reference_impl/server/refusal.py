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


def openai_error(
    message: str, *, status: int = 500, param: str | None = None, code: str | None = None
) -> dict[str, Any]:
    """The envelope of Chat Completions, Responses and the model list."""
    kind = _OPENAI_TYPES.get(status, "invalid_request_error")
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def ollama_error(message: str) -> dict[str, Any]:
    """The envelope of Ollama's native API."""
    return {"error": message}


def cohere_error(message: str) -> dict[str, Any]:
    """The envelope of Cohere's Chat."""
    return {"message": message}


def google_error(message: str, *, status: int = 500) -> dict[str, Any]:
    """The envelope of the Gemini API."""
    word = _GOOGLE_STATUS.get(status, "INVALID_ARGUMENT")
    return {"error": {"code": status, "message": message, "status": word}}


def interactions_error(message: str, *, status: int = 500) -> dict[str, Any]:
    """The envelope of the Interactions API."""
    word = _GOOGLE_STATUS.get(status, "INVALID_ARGUMENT").lower()
    return {"error": {"code": word, "message": message}}


def converse_error(message: str) -> dict[str, Any]:
    """The envelope of Converse."""
    return {"message": message}


def anthropic_error(message: str, *, status: int = 500) -> dict[str, Any]:
    """The envelope of Messages."""
    kind = _ANTHROPIC_TYPES.get(status, "invalid_request_error")
    return {"type": "error", "error": {"type": kind, "message": message}}
