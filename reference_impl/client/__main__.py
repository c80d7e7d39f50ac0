"""python -m conformance.reference client chat | harness."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Sequence

from . import chat_command
from .apis import APIS
from .defects import DEFECTS, HONEST
from .harness import Harness
from .likeness import LEVELS, LIKENESSES, POLICIES, REFERENCE, SUMMARIES


def main(given: Sequence[str] | None = None) -> int:
    arguments = _command_parser().parse_args(given)
    defect = DEFECTS[arguments.defect] if arguments.defect else HONEST
    like = LIKENESSES.get(arguments.like, REFERENCE)
    try:
        if arguments.command == "chat":
            return chat_command.run(arguments, defect, like)
        lines = io.TextIOWrapper(sys.stdin.buffer, "utf-8", "replace")
        Harness(sys.stdout, defect, like).serve(lines)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Who read us has gone, and nothing is left to tell.
        _give_up_stdout()
    except OSError as fault:
        _give_up_stdout()
        sys.stderr.write(f"error: the output cannot be written: {fault.strerror}\n")
        return chat_command.USAGE
    return 0


def _give_up_stdout() -> None:
    """Closing it at the end must not fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _command_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"python -m {__package__}", description=__doc__)
    parser.add_argument("--list-defects", action=_Listing, nargs=0, help="one a line, by tab")
    commands = parser.add_subparsers(dest="command", required=True)
    _add_chat_options(commands.add_parser("chat", help="ask one question and show the answer"))
    harness = commands.add_parser("harness", help="be a client under test, on stdin and stdout")
    _add_likeness_options(harness)
    return parser


def _add_chat_options(chat: argparse.ArgumentParser) -> None:
    chat.add_argument("--url", required=True, help="base URL, such as http://127.0.0.1:8000/v1")
    chat.add_argument("--model", required=True)
    chat.add_argument("--api", choices=tuple(APIS), default="chat")
    chat.add_argument("--effort", choices=LEVELS)
    chat.add_argument("--summary", choices=(*SUMMARIES, "none"))
    chat.add_argument("--history", choices=POLICIES)
    chat.add_argument("--store", metavar="FILE", help="go on with the conversation in FILE")
    chat.add_argument("--include-thinking", action="store_true", help="opt in to hidden thinking")
    chat.add_argument("--tools", action="store_true", help="offer the calculator")
    chat.add_argument("--system", help="instructions in front of a new conversation")
    chat.add_argument("--max-tokens", type=_above_zero(int))
    chat.add_argument("--timeout", type=_above_zero(float), default=600.0, help="seconds (600)")
    chat.add_argument("--api-key-env", metavar="NAME", help="environment variable with the key")
    chat.add_argument("prompt")
    _add_likeness_options(chat)


def _above_zero(kind: Callable[[str], float]) -> Callable[[str], float]:
    """A reader of numbers above 0."""

    def number(text: str) -> float:
        value = kind(text)
        if not value > 0:
            raise argparse.ArgumentTypeError(f"expected a number above 0, got {text}")
        return value

    return number


def _add_likeness_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--like", choices=sorted(LIKENESSES), help="behave as that client does")
    parser.add_argument("--defect", choices=sorted(DEFECTS), metavar="NAME", help="a named fault")
    parser.add_argument("--list-defects", action=_Listing, nargs=0, help="one a line, by tab")


class _Listing(argparse.Action):
    """Prints name, fault and rules of every defect, and ends."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        for defect in DEFECTS.values():
            sys.stdout.write(f"{defect.name}\t{defect.says}\t{' '.join(defect.rules)}\n")
        parser.exit()


if __name__ == "__main__":
    sys.exit(main())
