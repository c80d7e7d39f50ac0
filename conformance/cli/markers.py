"""`conformance markers`: the tokens around a model's thinking, as its tokenizer names them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from msgspec.structs import asdict

from conformance.cli.options import TextOrJsonOption, require_format
from conformance.cli.terminal import put
from conformance.profiles.tokenizer_markers import Found, MarkerPair, find
from conformance.report.printable import visible

_FIRST: Final = "of several pairs the one that was added first counts: it has the lowest id"
_SPECIAL: Final = (
    "they are special tokens: a server that leaves those out of its text sends no markers"
)


def markers_command(
    tokenizer: Annotated[
        Path,
        typer.Argument(
            metavar="TOKENIZER", help="tokenizer.json, tokenizer_config.json, or a model's folder."
        ),
    ],
    format_: TextOrJsonOption = "text",
) -> None:
    """Show which tokens a model puts around its thinking."""
    require_format(format_, "text", "json")
    found = find(tokenizer)
    put(
        "\n".join(_text_lines(found))
        if format_ == "text"
        else json.dumps(_as_document(found), indent=2)
    )


def _text_lines(found: Found) -> Iterator[str]:
    if not found.pairs:
        yield f"none: passes through ({visible(str(found.file))})"
        return
    pair, *others = found.pairs
    yield f"{_pair_text(pair)} ({visible(str(found.file))})"
    if pair.open.special or pair.close.special:
        yield f"  note     {_SPECIAL}"
    for other in others:
        yield f"  also     {_pair_text(other)}"
    if others:
        yield f"  why      {_FIRST}"
    yield f"  profile  knobs: {{markers: {visible(_knob_text(pair, found.file.name))}}}"


def _pair_text(pair: MarkerPair) -> str:
    return " ".join(f"{visible(each.text)} {each.id}" for each in (pair.open, pair.close))


def _knob_text(pair: MarkerPair, file: str) -> str:
    """As a profile sets it; JSON is YAML, too."""
    value = json.dumps([[pair.open.text, pair.close.text]], ensure_ascii=False)
    return f"{{value: {value}, because: added tokens, seen: {json.dumps(file)}}}"


def _as_document(found: Found) -> dict[str, Any]:
    pairs = [{"open": asdict(each.open), "close": asdict(each.close)} for each in found.pairs]
    return {
        "markers": "1.0",
        "file": str(found.file),
        "pair": pairs[0] if pairs else None,
        "others": pairs[1:],
        "why": _FIRST if pairs[1:] else "",
        "knobs": {"markers": [[each.open.text, each.close.text] for each in found.pairs[:1]]},
    }
