"""What counts for one test: marker, `conformance_config`, options, configuration file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec import Struct

from conformance.core.errors import UsageError
from conformance.pytest_plugin.folders import CassetteFolder, folder_name
from conformance.pytest_plugin.options import given_option, option_value, record_mode, trusted
from conformance.pytest_plugin.project_defaults import project_suites
from conformance.rules.node import nearest
from conformance.targets.replay import ReplayOptions

_REPLAY: Final = ("chunking", "timing", "cut", "stall", "how", "comments", "crlf", "repeat")
_LISTS: Final = {"ignore": "ignore", "match_headers": "headers"}
_OWN: Final = ("cassette", "record", "url", "profile", "dialect", "unused", "cassette_dir")
KEYS: Final = (*_OWN, *_REPLAY, *_LISTS)


class ReplaySettings(Struct, frozen=True):
    """How one test replays, records and judges.

    `folder` is where its recordings lie and new ones go; `cassettes` are read besides.
    """

    mode: str
    folder: CassetteFolder
    cassettes: tuple[Path, ...]
    url: str | None
    profile: str | None
    dialect: str | None
    replay: ReplayOptions
    fails_unused: bool
    strict: bool
    require_exercised: bool
    trusted: tuple[Path, ...] = ()
    suites: tuple[str, ...] = ()

    def sources(self) -> tuple[Path, ...]:
        return (*self.cassettes, *self.folder.files())


def settings_of(item: pytest.Item, defaults: Mapping[str, Any]) -> ReplaySettings:
    """The settings of a test; `defaults` come from the fixture. Raises UsageError."""
    config = item.config
    layers = _merged_layers(item, defaults)
    unused = layers.get("unused") or config.getini("conformance_unused")
    if unused not in ("fail", "ignore"):
        raise UsageError(f"unused: expected fail or ignore, got {unused!r}")
    return ReplaySettings(
        mode=record_mode(config, layers),
        folder=_cassette_folder(item, layers),
        cassettes=_marked_cassettes(item, layers.get("cassette")),
        url=_chosen_option(config, layers, "url"),
        profile=_chosen_option(config, layers, "profile"),
        dialect=layers.get("dialect"),
        replay=_replay_options(config, layers),
        fails_unused=unused == "fail",
        strict=bool(option_value(config, "strict")),
        require_exercised=bool(option_value(config, "require-exercised")),
        trusted=trusted(config),
        suites=project_suites(config.rootpath),
    )


def _merged_layers(item: pytest.Item, defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The fixture's values below those of markers, the closest marker on top."""
    layers = _check_keys("conformance_config", defaults)
    for marker in reversed(list(item.iter_markers("conformance"))):
        named = dict(marker.kwargs)
        if marker.args:
            if len(marker.args) > 1 or "cassette" in named:
                raise UsageError("the marker conformance takes one cassette, or a list of them")
            named["cassette"] = marker.args[0]
        layers.update(_check_keys("the marker conformance", named))
    return layers


def _check_keys(where: str, named: Mapping[str, Any]) -> dict[str, Any]:
    for key in named:
        if key not in KEYS:
            raise UsageError(f"{where} has no {key!r}", hint=nearest(key, KEYS))
    return dict(named)


def _chosen_option(config: pytest.Config, layers: Mapping[str, Any], name: str) -> str | None:
    found = given_option(config, name) or layers.get(name) or option_value(config, name)
    return None if found is None else str(found)


def _cassette_folder(item: pytest.Item, layers: Mapping[str, Any]) -> CassetteFolder:
    below = layers.get("cassette_dir") or item.config.getini("conformance_cassette_dir")
    module = item.path.stem
    # Below the module: classes and the function, with its parameters.
    names = [node.name for node in item.listchain() if isinstance(node, pytest.Class)]
    return CassetteFolder(
        item.path.parent / below / module / folder_name(".".join([*names, item.name]))
    )


def _marked_cassettes(item: pytest.Item, named: Any) -> tuple[Path, ...]:
    """Recordings of the marker, relative to the test's file; folders stand for what is in them."""
    if named is None:
        return ()
    several = [named] if isinstance(named, str | Path) else named
    if not isinstance(several, Sequence):
        raise UsageError(f"cassette: expected a path or a list of paths, got {named!r}")
    paths = tuple(item.path.parent / each for each in several)
    for path in paths:
        if not path.exists():
            raise UsageError(f"cassette: {path} does not exist")
    return paths


def _replay_options(config: pytest.Config, layers: Mapping[str, Any]) -> ReplayOptions:
    named = {key: layers[key] for key in _REPLAY if layers.get(key) is not None}
    for key, own in _LISTS.items():
        if key in layers:
            named[own] = _string_list(key, layers[key])
    for key in ("chunking", "timing"):
        if (chosen := _chosen_option(config, layers, key)) is not None:
            named[key] = chosen
    return ReplayOptions.parse(**named)


def _string_list(key: str, found: Any) -> tuple[str, ...]:
    if isinstance(found, str):
        return (found,)
    if not (isinstance(found, Sequence) and all(isinstance(each, str) for each in found)):
        raise UsageError(f"{key}: expected a list of strings, got {found!r}")
    return tuple(found)
