"""The command line."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from .defects import DEFECTS, ServerDefect
from .settings import LIKENESSES, REFERENCE, Settings

_PROG: Final = f"python -m {__package__}"
_VARIANTS: Final = ("think", "bracket", "plain", "prompt-opened")
_SETTINGS: Final = (
    *("chat_reasoning", "include_header", "include_field", "messages_thinking", "max_body"),
    *("summary_carrier", "summary_failure"),
)
"""Options that are settings of the same name, which the preset fills."""


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """Where to listen, which model to run, and how to answer. `model` None is the shipped one."""

    host: str
    port: int
    port_file: Path | None
    model: Path | None
    variant: str
    max_batch: int
    step_delay_s: float
    think_markers: tuple[str, str] | None
    lists_defects: bool
    defect: ServerDefect | None
    settings: Settings


def parse(arguments: Sequence[str] | None = None) -> ServerOptions:
    """Ends the process with a usage message where an argument is wrong."""
    like, _ = _likeness_parser().parse_known_args(arguments)
    parser = _whole_parser(LIKENESSES[like.like])
    given = parser.parse_args(arguments)
    markers: list[str] | None = given.think_markers
    return ServerOptions(
        host=given.host,
        port=given.port,
        port_file=given.port_file,
        model=given.model,
        variant=given.variant,
        max_batch=given.max_batch,
        step_delay_s=given.step_delay / 1000,
        think_markers=(markers[0], markers[1]) if markers is not None else None,
        lists_defects=given.list_defects,
        defect=given.defect,
        settings=_chosen_settings(parser, given),
    )


def _chosen_settings(parser: argparse.ArgumentParser, given: argparse.Namespace) -> Settings:
    api_key = ""
    if given.api_key_env is not None:
        api_key = os.environ.get(given.api_key_env, "")
        if not api_key:
            parser.error(f"the environment variable {given.api_key_env} is not set")
    name = given.model.resolve().name if given.model else f"tiny-{given.variant}"
    return replace(
        LIKENESSES[given.like],
        model_name=given.model_name or name,
        api_key=api_key,
        summary_text_done=given.summary_text_done == "always",
        **{setting: getattr(given, setting) for setting in _SETTINGS},
    )


def _likeness_parser() -> argparse.ArgumentParser:
    """The preset alone: what it chooses is what the other options begin with."""
    # A prefix of an option is none here: `--l` could be another one of the whole parser.
    parser = argparse.ArgumentParser(prog=_PROG, add_help=False, allow_abbrev=False)
    parser.add_argument(
        "--like",
        choices=tuple(LIKENESSES),
        default=REFERENCE,
        help="answer as another server is documented to; other options are laid over it",
    )
    return parser


def _whole_parser(base: Settings) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        parents=[_likeness_parser()],
        allow_abbrev=False,
        prog=_PROG,
        description="A server that thinks: Chat Completions, Responses and Messages.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    _add_place(parser)
    _add_model(parser)
    _add_answers(parser)
    _add_defects(parser)
    text_done = "always" if base.summary_text_done else "never"
    chosen = {setting: getattr(base, setting) for setting in _SETTINGS}
    parser.set_defaults(summary_text_done=text_done, **chosen)
    return parser


def _add_place(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("where").add_argument
    add("--host", default="127.0.0.1", help="address to listen on")
    add("--port", type=_whole_number(0, 65535), default=8000, help="0 takes a free one")
    add("--port-file", type=Path, metavar="FILE", help="write the port there once it listens")
    add("--api-key-env", metavar="NAME", help="environment variable with the key to ask for")
    add("--max-body", type=_count, metavar="BYTES", help="largest request")


def _add_model(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("model").add_argument
    add("--model", type=_folder, metavar="DIR", help="folder of a Hugging Face causal model")
    add("--variant", choices=_VARIANTS, default="think", help="of the model that is shipped")
    add("--model-name", metavar="NAME", help="what requests call the model")
    add("--think-markers", nargs=2, metavar=("OPEN", "CLOSE"), help="tokens around thinking")
    add("--max-batch", type=_count, default=64, metavar="N", help="requests that advance together")
    add("--step-delay", type=_milliseconds, default=0.0, metavar="MS", help="wait after each token")


def _add_answers(parser: argparse.ArgumentParser) -> None:
    answers = parser.add_argument_group("answers")
    add = answers.add_argument
    add(
        "--chat-reasoning",
        choices=("strip", "wrap", "reasoning_content", "reasoning", "parts"),
        help="where Chat Completions shows thinking; strip hides it from who does not opt in",
    )
    carrier = answers.add_mutually_exclusive_group()
    carrier.add_argument(
        "--include-thinking-header",
        dest="include_header",
        metavar="NAME",
        help="header that opts in",
    )
    carrier.add_argument(
        "--include-thinking-field",
        dest="include_field",
        metavar="PATH",
        help="dotted path of the field that opts in, instead of a header",
    )
    add("--messages-thinking", choices=("shown", "redacted"), help="how Messages sends thinking")
    add = parser.add_argument_group("summaries").add_argument
    add(
        "--summary-carrier",
        choices=("events", "item_done", "none"),
        help="how Responses sends a summary; none makes no summaries",
    )
    add(
        "--summary-text-done",
        choices=("always", "never"),
        help="whether a part states its text before it closes",
    )
    add(
        "--summary-failure",
        choices=("failed", "empty"),
        help="what becomes of a response whose summary fails",
    )


def _add_defects(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("defects").add_argument
    add("--defect", type=_named_defect, metavar="NAME", help="do exactly one thing wrong")
    add("--list-defects", action="store_true", help="name, fault and rules of each, and end")


def _folder(text: str) -> Path:
    folder = Path(text)
    if not folder.is_dir():
        raise argparse.ArgumentTypeError(f"no folder {text!r}")
    return folder


def _named_defect(text: str) -> ServerDefect:
    if text not in DEFECTS:
        raise argparse.ArgumentTypeError(f"no defect {text!r}; see --list-defects")
    return DEFECTS[text]


def _whole_number(least: int, most: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if not (text.isascii() and text.isdigit() and least <= int(text[:16]) <= most):
            raise argparse.ArgumentTypeError(f"{text!r} is no number from {least} to {most}")
        return int(text)

    return number


_count: Final = _whole_number(1, 2**40)


def _milliseconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 60_000:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of milliseconds up to 60000")
    return value
