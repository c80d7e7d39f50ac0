"""A named defect: one fault, where it hooks in, and which rules must catch it.

Hooks stand at three places outside the engine: between it and a projection (`events`), behind the
projection (`wires`), and on the bytes of a stream (`frames`). Each takes an asynchronous iterator
and gives another. Where a defect has no hook, or not for this API, nothing is in between.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final, Literal, TypeVar

from ..projection import Events
from ..summary import AnswerEvent
from ..wire import Wire

Api = Literal[
    "chat",
    "responses",
    "messages",
    "ollama",
    "cohere",
    "gemini",
    "interactions",
    "mistral",
    "ollama-generate",
    "bedrock",
]
TEXT_APIS: Final[tuple[Api, ...]] = (
    *("chat", "responses", "messages", "ollama"),
    *("cohere", "interactions", "mistral", "gemini"),
)
EVERY_API: Final[tuple[Api, ...]] = (*TEXT_APIS, "bedrock")
"""The APIs in which a fault of the model's answer shows; Bedrock's streams are binary."""
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Scene:
    """The request, as a hook sees it: thinking is `hidden`, or was not to happen at all."""

    api: Api
    markers: tuple[str, str] = ("<think>", "</think>")
    hidden: bool = False
    thinks: bool = True
    streams: bool = True


EventHook = Callable[[AsyncIterator[AnswerEvent], Scene], AsyncIterator[AnswerEvent]]
WireHook = Callable[[AsyncIterator[Wire], Scene], AsyncIterator[Wire]]
FrameHook = Callable[[AsyncIterator[bytes], Scene], AsyncIterator[bytes]]


@dataclass(frozen=True, slots=True)
class ServerDefect:
    """`rules` says per API which rules fail when everything is asked that can show the fault.

    `live` is what a live run finds beside them: an answer that did not end, or did not think, as
    its scenario expects, and what only a whole body of an answer that was cut can show.
    """

    name: str
    says: str
    rules: Mapping[Api, tuple[str, ...]]
    events: EventHook | None = None
    wires: WireHook | None = None
    frames: FrameHook | None = None
    live: tuple[str, ...] = ()

    @property
    def all_rules(self) -> tuple[str, ...]:
        """Of all APIs and of a live run, each rule once."""
        return tuple(
            sorted({rule for rules in (*self.rules.values(), self.live) for rule in rules})
        )

    def line(self) -> str:
        """One line for a list: name, what it does, and the rules."""
        apis = ", ".join(self.rules) or "every API, in a soak"
        return f"{self.name}\t{self.says} ({apis})\t{' '.join(self.all_rules)}"


def each(
    edit: Callable[[Item], Iterable[Item]],
) -> Callable[[AsyncIterator[Item], Scene], AsyncIterator[Item]]:
    """A fault of one item at a time, which remembers nothing."""

    async def hook(items: AsyncIterator[Item], _: Scene) -> AsyncIterator[Item]:
        async for item in items:
            for made in edit(item):
                yield made

    return hook


async def hooked(
    source: Events[Item],
    hook: Callable[[AsyncIterator[Item], Scene], AsyncIterator[Item]] | None,
    scene: Scene,
) -> AsyncGenerator[Item, None]:
    """Yield what the hook makes of the source; closing it closes both."""
    async with aclosing(source):
        items = source.__aiter__() if hook is None else hook(source.__aiter__(), scene)
        async for item in items:
            yield item
