"""Options of what talks to a live target, and what they mean together."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import typer

from conformance.core.errors import UsageError
from conformance.dialects import APIS, ENDPOINTS
from conformance.rules.node import nearest
from conformance.scenarios import CAPABILITIES
from conformance.targets.server_limits import ExchangeLimits

LIMITS: Final = ExchangeLimits()
API_WORDS: Final = " or ".join(", ".join(APIS).rsplit(", ", 1))
_HEADER: Final = re.compile(r"([A-Za-z0-9!#$%&'*+.^_`|~-]+):[ \t]*([\x20-\x7e\t]*)")
_SECRET: Final = frozenset({"authorization", "api-key", "x-api-key", "cookie", "x-goog-api-key"})

UrlOption = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Base URL of a server; /v1 is added where it has no path."),
]
AsgiOption = Annotated[
    str | None,
    typer.Option("--asgi", metavar="MODULE:APP", help="An ASGI application, run in this process."),
]
GatewayOption = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Base URL of a gateway that asks us at --upstream-port."),
]
UpstreamOption = Annotated[
    int | None,
    typer.Option(metavar="N", min=0, max=65535, help="Port on which we play the server behind it."),
]
ModelOption = Annotated[
    str | None, typer.Option(metavar="ID", help="Model to ask for; default: the only one listed.")
]
ApiOption = Annotated[
    list[str] | None,
    typer.Option(help=f"{API_WORDS}; repeatable; default: all that are there."),
]
ScenarioOption = Annotated[
    list[str] | None,
    typer.Option(help="Scenario, by name, file or folder; repeatable; default: all shipped."),
]
RequestOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Send this JSON body instead of the scenarios; needs --api."),
]
WithoutOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="CAPABILITY",
        help="What the target lacks: thinking, tools, summary, encrypted, effort or models.",
    ),
]
LiveProfileOption = Annotated[
    str | None,
    typer.Option(help="Profile, by name or YAML file; auto: by the target's own signs."),
]
TargetOption = Annotated[
    str, typer.Option(metavar="NAME-VERSION", help="Name of the target, for baselines.")
]
SaveOption = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Keep what was received, as cassettes.")
]
PlanOption = Annotated[
    bool, typer.Option("--plan", help="Print what would be sent, and send nothing.")
]
RequestsOption = Annotated[
    int | None, typer.Option("--max-requests", min=1, help="Send no more than this; default: all.")
]
RpmOption = Annotated[
    float | None, typer.Option(min=0.1, help="Requests per minute; default: as they come.")
]
WaitOption = Annotated[
    float, typer.Option("--max-wait", min=0, help="Longest Retry-After to obey, in seconds.")
]
TokensOption = Annotated[
    int, typer.Option("--max-tokens", min=16, help="Limit of each answer, where a step has none.")
]
JobsOption = Annotated[int, typer.Option(min=1, max=1024, help="Scenarios at a time.")]
RepeatOption = Annotated[
    int, typer.Option(min=1, max=10_000, help="Rounds; from 2 on, a soak that looks for mix-ups.")
]
ConfirmOption = Annotated[
    int, typer.Option(min=1, max=100, help="Ask so often for each finding; tells k of n.")
]
TimeoutOption = Annotated[float, typer.Option(min=0.1, help="Seconds for a whole exchange.")]
IdleOption = Annotated[
    float, typer.Option("--idle-timeout", min=0.1, help="Seconds of silence in a stream.")
]
BytesOption = Annotated[int, typer.Option("--max-bytes", min=1, help="Bytes of one answer.")]
HeaderOption = Annotated[
    list[str] | None,
    typer.Option("-H", "--header", metavar="'NAME: VALUE'", help="Send this too; repeatable."),
]
KeyOption = Annotated[
    str | None,
    typer.Option("--api-key-env", metavar="NAME", help="Environment variable with the key."),
]
KeyHeaderOption = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Header for the key; default: as the API has it."),
]
VerboseOption = Annotated[
    bool, typer.Option("-v", "--verbose", help="All findings in full, a verdict per rule.")
]


def target_named(text: str) -> dict[str, str]:
    """Name and version of a target, as recordings have them."""
    name, _, version = text.partition("-")
    return {key: word for key, word in (("name", name), ("version", version)) if word}


def dialects(apis: Sequence[str]) -> tuple[str, ...]:
    """The dialects of the APIs that were named. Raises UsageError for another name."""
    for api in apis:
        if api not in APIS:
            raise UsageError(f"no API is called {api!r}", hint=f"one of {', '.join(APIS)}")
    return tuple(dict.fromkeys(APIS[api] for api in apis))


def lacking(names: Sequence[str]) -> frozenset[str]:
    """What the target is said to lack. Raises UsageError for what nobody needs."""
    for name in names:
        if name not in CAPABILITIES:
            hint = nearest(name, CAPABILITIES) or f"one of {', '.join(CAPABILITIES)}"
            raise UsageError(f"--without {name!r} is no capability", hint=hint)
    return frozenset(names)


def headers(lines: Sequence[str]) -> dict[str, str]:
    """Headers as they were given. Raises UsageError for what is none, and for credentials."""
    found: dict[str, str] = {}
    for line in lines:
        match = _HEADER.fullmatch(line)
        if match is None:
            raise UsageError("expected -H 'Name: value'")
        if match[1].lower() in _SECRET:
            message = f"-H {match[1]}: whoever lists processes sees it"
            raise UsageError(message, hint="name a variable: --api-key-env NAME")
        found[match[1]] = match[2].strip()
    return found


def secrets(variable: str | None, header: str | None) -> dict[str, dict[str, str]]:
    """Headers with the key, by dialect. Raises UsageError if the variable is not set."""
    if variable is None:
        return {}
    key = os.environ.get(variable, "").strip()
    if not key or not key.isascii() or not key.isprintable():
        raise UsageError(f"${variable} holds no key")
    return {name: endpoint.key_headers(key, header or "") for name, endpoint in ENDPOINTS.items()}
