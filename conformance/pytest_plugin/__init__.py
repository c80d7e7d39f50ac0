"""The pytest plugin: hooks only.

Everything that a hook needs is imported when it is used: a pytest start, which loads this module
in every project that has the package, must not pay for YAML, HTTP or rules. Nothing here imports
pytest, so that `conformance.assert_conforms` works without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

_SUFFIXES = (".conformance.yaml", ".conformance.yml")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options and ini keys."""
    from conformance.pytest_plugin.options import add_options  # noqa: PLC0415  # see above

    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """The marker, and the other hooks and fixtures."""
    from conformance.pytest_plugin.options import MARKER, refuse_wrong  # noqa: PLC0415  # see above

    config.addinivalue_line("markers", MARKER)
    refuse_wrong(config)
    from conformance.pytest_plugin import hooks  # noqa: PLC0415  # pytest is here by now

    config.pluginmanager.register(hooks, "conformance-hooks")


def pytest_report_header(config: pytest.Config) -> str | None:
    """Return the options that were given, if any."""
    from conformance.pytest_plugin.options import report_header  # noqa: PLC0415  # see above

    return report_header(config)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Files `*.conformance.yaml`."""
    if not file_path.name.endswith(_SUFFIXES):
        return None
    from conformance.pytest_plugin.hooks import SpecFile  # noqa: PLC0415  # see above

    return SpecFile.from_parent(parent, path=file_path)
