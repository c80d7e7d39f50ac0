"""Our own kinds of recordings, in the order in which they are tried.

A check of cassettes does without them: loading them takes longer than reading one.
"""

from __future__ import annotations

from typing import Final

from conformance.cassette.cassette_kind import CASSETTE
from conformance.cassette.importers.answer_lists import ANSWERS
from conformance.cassette.importers.bodies import EVENTS, LINES, MESSAGES, PAYLOADS, TEXT
from conformance.cassette.importers.chunk_lists import ARRAY, TIMED, WRAPPED
from conformance.cassette.importers.curl_head import IMPORTER as CURL_HEAD
from conformance.cassette.importers.curl_trace import IMPORTER as CURL_TRACE
from conformance.cassette.importers.message_lines import IMPORTER as MESSAGE_LINES
from conformance.cassette.importers.mitmproxy import IMPORTER as MITMPROXY
from conformance.cassette.importers.ogx import IMPORTER as OGX
from conformance.cassette.importers.recorders.batches import BATCHES
from conformance.cassette.importers.recorders.reading import importer_of
from conformance.cassette.importers.recorders.table import ROWS
from conformance.cassette.importers.session_logs import SESSION_LOGS
from conformance.cassette.importers.telemetry import IMPORTER as TELEMETRY

RECORDERS: Final = tuple(map(importer_of, ROWS))
"""Files of other people's recorders, each by its row."""
_RESULTS: Final = tuple(map(importer_of, BATCHES))  # before lines that may be payloads of a stream
OWN: Final = (
    *(
        CASSETTE,
        CURL_TRACE,
        CURL_HEAD,
        EVENTS,
        *SESSION_LOGS,
        *_RESULTS,
        TELEMETRY,
        MESSAGE_LINES,
        TIMED,
        WRAPPED,
        LINES,
        PAYLOADS,
        MESSAGES,
    ),
    *(OGX, *RECORDERS, ANSWERS, ARRAY, MITMPROXY, TEXT),
)
"""Our own kinds except the last resort."""
