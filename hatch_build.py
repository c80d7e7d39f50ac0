"""Puts the values of the shipped YAML files into a wheel, so that it need not read YAML."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class BuiltValuesHook(BuildHookInterface[Any]):
    """Reads the specs as a checkout does; an editable install stays one, and has none."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        sys.path.insert(0, self.root)
        from conformance.core.built_values import FILE_NAME  # noqa: PLC0415  # on the path by now
        from conformance.judging.building import build_values  # noqa: PLC0415

        self._folder = TemporaryDirectory()
        file = Path(self._folder.name) / FILE_NAME
        build_values(file)
        build_data["force_include"][str(file)] = f"conformance/_data/{FILE_NAME}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        del build_data, artifact_path
        if version != "editable":
            self._folder.cleanup()
