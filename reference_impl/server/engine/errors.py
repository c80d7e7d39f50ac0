"""What the engine raises; the HTTP side gives each kind its status."""

from __future__ import annotations


class EngineError(Exception):
    """The engine failed, or was closed: the server's fault."""


class PromptError(EngineError):
    """These messages cannot be made into a prompt: the caller's fault."""


class PromptTooLong(PromptError):  # noqa: N818 - names the fact, as the HTTP errors do
    """The prompt leaves no room for a single token of an answer."""

    def __init__(self, tokens: int, context: int) -> None:
        super().__init__(f"prompt of {tokens} tokens, but the context holds {context} with answer")
        self.tokens = tokens
        self.context = context
