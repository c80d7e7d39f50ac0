"""The node of a `*.conformance.yaml` file: light, as pytest makes it for files nobody named."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.core.errors import ConformanceError


class SpecFile(pytest.File):
    """One file; its mistakes are errors of the collection, in one line."""

    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        from conformance.pytest_plugin.collecting import Collecting  # noqa: PLC0415  # see above

        try:
            yield from Collecting(self).nodes()
        except ConformanceError as err:
            raise self.CollectError(str(err)) from err
