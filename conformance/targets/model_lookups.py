"""What a client learns that looks its model up before it asks: a list, one model, its details."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote

from conformance.dialects import SUPPORTED
from conformance.dialects.endpoint import ModelListing

_LIVE: Final = frozenset({"/health", "/healthz"})
"""Paths that routers request of a server before they listen themselves (vllm-router 0.1.17)."""


def model_lookup(method: str, path: str, model: str) -> Mapping[str, Any] | None:
    """The answer to a look-up, as the API at that path has it; None where it is none.

    `model` is the one that a list holds; who asks for one by its name finds that.
    """
    plain = path.partition("?")[0].rstrip("/")
    listings = dict.fromkeys(each.models for each in SUPPORTED.values() if each.models)
    if method == "POST":
        return next((each.shown for each in listings if _is_shown(each, plain)), None)
    if method not in ("GET", "HEAD"):
        return None
    if plain in _LIVE:
        return {"status": "ok"}
    # Several APIs list at one path: that of the base shows which.
    for is_based in (True, False):
        for listing in listings:
            place = listing.base * is_based + listing.path
            if (found := _read_list(listing, place, plain, model)) is not None:
                return found
    return None


def _is_shown(listing: ModelListing, plain: str) -> bool:
    return bool(listing.show_path) and plain.endswith(listing.show_path)


def _read_list(
    listing: ModelListing, place: str, plain: str, model: str
) -> Mapping[str, Any] | None:
    if plain.endswith(place):
        return listing.body(model)
    _, mark, name = plain.partition(f"{place}/")
    # A path with a colon (`:generateContent`) calls the model; it does not look it up.
    return listing.entry(unquote(name)) if mark and name and ":" not in name else None
