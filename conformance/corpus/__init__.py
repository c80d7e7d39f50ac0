"""Corpora: many recorded streams, judged by one process, several, or an engine for many machines.

What travels are *fragments*: references to a part of a source (a row group of a Parquet file, a
range of bytes of JSON lines, some files), never bodies. Each fragment gives one file of verdicts.
pyarrow is imported where it is used; see `arrow.py`.
"""

from conformance.corpus.batches import batch_schema, check_batch
from conformance.corpus.columns import ColumnNames
from conformance.corpus.judge import CorpusJudge, JudgeChoices

__all__ = ["ColumnNames", "CorpusJudge", "JudgeChoices", "batch_schema", "check_batch"]
