"""Folders of the model under other markers, written from the one that is shipped.

`python -m conformance.reference.model.variants VARIANT DIR` writes one, for `--model DIR`.
The weights are the same in all: only the tokenizer's names of two ids and the chat template differ.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from .markers import TEMPLATE_FILE, VARIANTS, VariantMarkers, template

BASE: Final = "think"
WEIGHTS: Final = Path(__file__).with_name("weights")
_TOKENIZER_FILE: Final = "tokenizer.json"


def folder(variant: str = BASE, *, under: Path | None = None) -> Path:
    """Give the folder of a variant, as `AutoModelForCausalLM` and `AutoTokenizer` load it.

    What is not shipped is written once: `under` the folder given, else in the user's cache. Raises
    ValueError if there is no such variant.
    """
    _known_variant(variant)
    if variant == BASE:
        return WEIGHTS
    place = (under or _cache_folder()) / f"{_digest_of_variant(variant)}-{variant}"
    if not place.is_dir():
        place.parent.mkdir(parents=True, exist_ok=True)
        _write_whole(variant, place)
    return place


def write(variant: str, place: Path) -> None:
    """Write a variant into the folder `place`."""
    markers = VARIANTS[_known_variant(variant)]
    place.mkdir(parents=True, exist_ok=True)
    for source in sorted(WEIGHTS.iterdir()):
        if source.name not in (_TOKENIZER_FILE, TEMPLATE_FILE):
            shutil.copyfile(source, place / source.name)
    (place / _TOKENIZER_FILE).write_text(_renamed_tokens(markers), encoding="utf-8")
    (place / TEMPLATE_FILE).write_text(template(markers), encoding="utf-8")


def _write_whole(variant: str, place: Path) -> None:
    """As `write`, but nobody sees a folder half written, as when two servers start at once."""
    unfinished = Path(tempfile.mkdtemp(prefix=f"{place.name}-", dir=place.parent))
    try:
        write(variant, unfinished)
        unfinished.rename(place)
    except OSError:
        shutil.rmtree(unfinished, ignore_errors=True)
        if not place.is_dir():  # else another process was first, with the same bytes
            raise


def _renamed_tokens(markers: VariantMarkers) -> str:
    """Give the tokenizer with the two tokens under other names; their ids stay."""
    tokenizer: dict[str, Any] = json.loads((WEIGHTS / _TOKENIZER_FILE).read_text(encoding="utf-8"))
    shipped = VARIANTS[BASE]
    names = {shipped.opener: markers.opener, shipped.closer: markers.closer}
    for token in tokenizer["added_tokens"]:
        if token["content"] in names:
            token.update(content=names[token["content"]], special=markers.is_special)
    return json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":"))


def _digest_of_variant(variant: str) -> str:
    """Name the contents, so that a folder of older weights is never taken for this one."""
    digest = hashlib.sha256(template(VARIANTS[variant]).encode())
    digest.update(_renamed_tokens(VARIANTS[variant]).encode())
    for source in sorted(WEIGHTS.iterdir()):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:12]


def _cache_folder() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "reasoning-conformance" / "model"


def _known_variant(variant: str) -> str:
    if variant not in VARIANTS:
        raise ValueError(f"no variant {variant!r}; there are {', '.join(VARIANTS)}")
    return variant


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog=f"python -m {__package__}.variants")
    parser.add_argument("variant", choices=tuple(VARIANTS))
    parser.add_argument("folder", type=Path)
    options = parser.parse_args(arguments)
    write(options.variant, options.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
