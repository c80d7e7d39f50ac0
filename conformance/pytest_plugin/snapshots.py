"""Event sequences as syrupy snapshots: `snapshot(extension_class=EventSequence) == trace`.

Needs syrupy. One line per event, so what differs is reported event by event.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from conformance.pytest_plugin.trace import Trace

if TYPE_CHECKING:
    Extension = object  # syrupy need not be there for this to be checked
else:
    from syrupy.extensions.single_file import SingleFileSnapshotExtension as Extension
    from syrupy.extensions.single_file import WriteMode


class EventSequence(Extension):
    """The semantic events of a trace, a line per event; other values as JSON."""

    file_extension = "events"
    if not TYPE_CHECKING:
        _write_mode = WriteMode.TEXT

    def serialize(self, data: Any, **_: Any) -> str:
        if not isinstance(data, Trace):
            return json.dumps(data, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
        return "\n".join(data.sequence) + "\n"
