"""What the package states beside pyproject.toml, and what a wheel holds beside its files.

Links of README are relative, as a checkout and its host need them. An index shows README alone, so
there they lead to the project's address, and where none is known yet only their words are left.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:)([^)]+)\)")
_FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)


class AddressHook(MetadataHookInterface):
    """The URLs of the project, and README with links that hold anywhere."""

    def update(self, metadata: dict[str, Any]) -> None:
        address = str(self.config["address"]).rstrip("/")
        page = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        text = linked_page(page, address)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
        metadata["urls"] = project_urls(address)


def project_urls(address: str) -> dict[str, str]:
    """The URLs that an index shows; none where there is no address yet."""
    if not address:
        return {}
    return {
        "Homepage": address,
        "Documentation": f"{address}/tree/main/docs",
        "Changelog": f"{address}/blob/main/CHANGELOG.md",
        "Issues": f"{address}/issues",
    }


def linked_page(page: str, address: str) -> str:
    """A page whose relative links lead to the address; without one, their words alone."""

    def absolute(link: re.Match[str]) -> str:
        picture, words, path = link.groups()
        if not address:
            return "" if picture else words
        place = "raw" if picture else "blob"
        return f"{picture}[{words}]({address}/{place}/main/{path})"

    parts = _FENCED.split(page)
    return "".join(each if at % 2 else _LINK.sub(absolute, each) for at, each in enumerate(parts))


class BuiltValuesHook(BuildHookInterface[Any]):
    """Reads the specs as a checkout does; an editable install stays one, and has none."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        sys.path.insert(0, self.root)
        from conformance.core.shipped import VALUES_NAME  # noqa: PLC0415  # on the path by now
        from conformance.judging.building import build_values  # noqa: PLC0415

        self._folder = TemporaryDirectory()
        file = Path(self._folder.name) / VALUES_NAME
        build_values(file)
        build_data["force_include"][str(file)] = f"conformance/_data/{VALUES_NAME}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        del build_data, artifact_path
        if version != "editable":
            self._folder.cleanup()
