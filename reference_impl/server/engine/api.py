"""The engine as the rest of the server sees it; importing it loads no torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from .events import EngineError, Limits, Prompt, Stream
from .markers import Markers

if TYPE_CHECKING:
    from .generation import Generation
    from .loop import Loop
    from .prompting import Prompter


class Model(Protocol):
    """The part of `Engine` that APIs use."""

    @property
    def model_id(self) -> str: ...

    @property
    def context(self) -> int: ...

    @property
    def markers(self) -> Markers | None: ...

    def prompt(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        thinking: bool = True,
    ) -> Prompt: ...

    def generate(
        self, prompt: Prompt, limits: Limits, *, parent: Stream | None = None
    ) -> Stream: ...


class Engine:
    """A model that advances many generations together, in a thread of its own."""

    def __init__(self, prompter: Prompter, loop: Loop) -> None:
        self._prompter = prompter
        self._loop = loop

    @classmethod
    def load(
        cls,
        folder: Path,
        *,
        max_batch: int = 16,
        step_delay_s: float = 0.0,
        context: int | None = None,
        think_markers: tuple[str, str] | None = None,
        device: str = "auto",
    ) -> Engine:
        """The causal language model of a local Hugging Face folder, nothing is downloaded.

        `context` is in tokens and bounded by what the model knows; `step_delay_s` is waited after
        each step. Raises EngineError where the folder holds no such model, has no chat template,
        or lacks one of `think_markers` as a token.
        """
        if not folder.is_dir():
            raise EngineError(f"{folder}: no such folder")
        if not (folder / "tokenizer.json").is_file():  # transformers would make one up
            raise EngineError(f"{folder}: no tokenizer.json")
        from .loading import load  # noqa: PLC0415 - torch takes seconds

        prompter, loop = load(
            folder,
            max_batch=max_batch,
            step_delay_s=step_delay_s,
            context=context,
            think_markers=think_markers,
            device=device,
        )
        return cls(prompter, loop)

    @property
    def model_id(self) -> str:
        return self._prompter.name

    @property
    def markers(self) -> Markers | None:
        """The tokens around thinking; None if the tokenizer has none, then all output is text."""
        return self._prompter.vocabulary.thinking

    @property
    def context(self) -> int:
        """Tokens that prompt and answer may have together."""
        return self._prompter.context

    def prompt(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        thinking: bool = True,
    ) -> Prompt:
        """The chat template over messages and tools, as the template knows them.

        Raises PromptTooLong, and PromptError where the template refuses the messages.
        """
        return self._prompter.prompt(messages, tools=tools, thinking=thinking)

    def generate(
        self, prompt: Prompt, limits: Limits, *, parent: Stream | None = None
    ) -> Generation:
        """Start at once; iterate the result in the event loop that runs now.

        The end of `parent` by cancellation ends this one too.
        Raises EngineError when the engine is closed, PromptTooLong as `prompt` does.
        """
        from .generation import Generation  # noqa: PLC0415 - as above

        return Generation(self._loop, self._prompter, prompt, limits, parent)

    @property
    def idle(self) -> bool:
        """No generation is running or waiting."""
        return self._loop.idle

    def wait_idle(self, timeout_s: float) -> bool:
        """Block until `idle`; False if that took longer than `timeout_s` seconds."""
        return self._loop.wait_idle(timeout_s)

    def close(self) -> None:
        """End the thread; generations that still run raise EngineError. May be called twice."""
        self._loop.close()
