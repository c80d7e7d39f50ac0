"""Ids of streams: equal ids would make a corpus ambiguous."""

from __future__ import annotations

from typing import Any, Final

from conformance.corpus.arrow import load_module

ID_COLUMNS: Final = ("id", "view", "exchange")


def repeated_ids(verdicts: Any) -> tuple[tuple[str, int], ...]:
    """Ids that several rows of the source have, and how many; an exchange counts once."""
    compute = load_module("pyarrow.compute")
    first = compute.and_(
        compute.equal(verdicts["view"], "wire"), compute.equal(verdicts["exchange"], 1)
    )
    counted = compute.value_counts(verdicts["id"].filter(first))
    several = counted.filter(compute.greater(counted.field(1), 1))
    return tuple(sorted((each["values"], each["counts"]) for each in several.to_pylist()))
