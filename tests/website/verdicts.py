"""Prints the verdicts of shipped recordings, every Nth of them, with jsonschema-rs or its stand-in.

python tests/website/verdicts.py real 25
python tests/website/verdicts.py stand-in 25
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

STAND_IN = Path(__file__).parents[2] / "website" / "judge" / "jsonschema_rs.py"


def main(which: str, every: int) -> None:
    if which == "stand-in":
        spec = importlib.util.spec_from_file_location("jsonschema_rs", STAND_IN)
        assert spec
        assert spec.loader
        module = sys.modules["jsonschema_rs"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    from conformance.cassette import discover  # noqa: PLC0415  # it imports what stands in
    from conformance.core import shipped  # noqa: PLC0415
    from conformance.recordings.check import check_paths  # noqa: PLC0415
    from conformance.report.files import render  # noqa: PLC0415

    root = shipped.cassettes()
    files = [*discover(root), *discover(root / "mutants")]
    report = check_paths(files[::every])
    render(report, "html")  # what leaves is redacted, which has patterns of its own
    by_name = {
        f"{stream.file} {stream.exchange} {stream.view}": [
            sorted(stream.verdicts.items()),
            sorted((found.rule, found.event) for found in stream.findings),
        ]
        for stream in report.streams
    }
    sys.stdout.write(json.dumps([by_name, report.errors]))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
