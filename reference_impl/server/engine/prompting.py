"""Messages to token ids through a model's own chat template.

A prompt may leave thinking open, so that the model writes only the closer. Only what the template
adds for the answer decides that. A marker in front of it is part of the
conversation: what a user typed, or the thinking of an earlier turn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from transformers import PreTrainedTokenizerBase

from .events import Limits, Prompt, PromptError, PromptTooLong
from .markers import Markers, Vocabulary
from .router import Router

Render = Callable[[bool], str]
"""The rendered conversation, with or without the beginning of an answer."""


def opens_thinking(
    encode: Callable[[str], Sequence[int]], markers: Markers | None, *renders: Render
) -> bool:
    """Return whether the answer begins in thinking, by the last marker of its beginning.

    `renders` are tried in turn: a template may write a conversation differently without the
    beginning of an answer, and then says nothing about where that begins.
    """
    if markers is None:
        return False
    for render in renders:
        whole, before = render(True), render(False)
        if whole.startswith(before):
            beginning = encode(whole[len(before) :])
            pair = (markers.open_id, markers.close_id)
            last = next((token for token in reversed(beginning) if token in pair), None)
            return last == markers.open_id
    return False


PROBE: Final = ({"role": "user", "content": "a"},)
LONGEST_REASON: Final = 200


class Prompter:
    """The prompts of a model, made without running it; used in one thread at a time."""

    def __init__(
        self,
        name: str,
        tokenizer: PreTrainedTokenizerBase,
        vocabulary: Vocabulary,
        *,
        context: int,
        size: int,
    ) -> None:
        self.name = name
        self.vocabulary = vocabulary
        self.context = context
        self._size = size
        self._template = tokenizer
        self._tokenizer = tokenizer.backend_tokenizer
        # A tokenizer file may ask for either, which would change prompts unseen.
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def prompt(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Mapping[str, Any]],
        thinking: bool,
    ) -> Prompt:
        def conversation(begin: bool) -> str:
            return self._render(messages, tools, thinking=thinking, begin=begin)

        def probe(begin: bool) -> str:
            return self._render(PROBE, (), thinking=thinking, begin=begin)

        ids = tuple(self._encode(conversation(begin=True)))
        opened = opens_thinking(self._encode, self.vocabulary.thinking, conversation, probe)
        prompt = Prompt(ids, opened)
        self.check(prompt)
        return prompt

    def check(self, prompt: Prompt) -> None:
        """Raises PromptTooLong, or PromptError for ids that the model does not know."""
        if len(prompt.ids) >= self.context:
            raise PromptTooLong(len(prompt.ids), self.context)
        if not prompt.ids:
            raise PromptError("the prompt is empty")
        if not 0 <= min(prompt.ids) <= max(prompt.ids) < self._size:
            raise PromptError(f"the prompt has ids outside 0..{self._size - 1}")

    def router(self, prompt: Prompt, limits: Limits) -> Router:
        return Router(
            self._tokenizer,
            self.vocabulary,
            prompt_tokens=len(prompt.ids),
            opens_thinking=prompt.opens_thinking,
            stop=limits.stop,
        )

    def _encode(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def _render(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]],
        *,
        thinking: bool,
        begin: bool,
    ) -> str:
        try:
            text = self._template.apply_chat_template(
                [dict(message) for message in messages],
                tools=[dict(tool) for tool in tools] or None,
                add_generation_prompt=begin,
                tokenize=False,
                enable_thinking=thinking,
            )
        except Exception as err:  # a template may raise anything over messages it does not expect
            reason = " ".join(str(err).split())[:LONGEST_REASON]
            raise PromptError(f"the chat template refuses the messages: {reason}") from err
        assert isinstance(text, str)
        return text
