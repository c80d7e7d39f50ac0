"""What was found in one exchange, without the secrets that it quotes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec.structs import replace

from conformance.cassette import Redactor
from conformance.core.events import Request
from conformance.core.own_keys import KEYS
from conformance.judging.result import Finding, StreamResult

Clean = Callable[[str], str]


def without_sent_secrets(result: StreamResult, request: Request | None) -> StreamResult:
    """The result without what the request of its exchange sent as a credential."""
    if request is None or not (result.findings or result.error or result.reasons):
        return result
    if not (request.headers or request.path or KEYS):
        return result  # nothing was sent that could be one
    redactor = Redactor(opaque=False)
    return redact_result(result, redactor.text) if redactor.learn_request(request) else result


def redact_result(stream: StreamResult, clean: Clean) -> StreamResult:
    """The result with every text of the stream passed through `clean`."""
    reasons = _clean_reasons(stream.reasons, clean)
    plain = not (stream.findings or stream.changes or stream.error or stream.notes)
    if plain and reasons is stream.reasons and clean(stream.target) == stream.target:
        return stream
    return replace(
        stream,
        target=clean(stream.target),
        findings=tuple(redact_finding(each, clean) for each in stream.findings),
        reasons=reasons,
        notes=tuple(map(clean, stream.notes)),
        changes=tuple(replace(each, why=clean(each.why)) for each in stream.changes),
        error=stream.error
        and replace(
            stream.error, code=clean(stream.error.code), message=clean(stream.error.message)
        ),
    )


def _clean_reasons(reasons: Mapping[str, str], clean: Clean) -> Mapping[str, str]:
    """The reasons; the same value where none changes, for thousands of results share a few."""
    changed = {rule: text for rule, why in reasons.items() if (text := clean(why)) != why}
    return {**reasons, **changed} if changed else reasons


def redact_finding(finding: Finding, clean: Clean) -> Finding:
    """As `redact_result`."""
    return replace(
        finding,
        slice={k: clean(v) if isinstance(v, str) else v for k, v in finding.slice.items()},
        expected=tuple(map(clean, finding.expected)),
        got=clean(finding.got),
        after=clean(finding.after),
        message=clean(finding.message),
        context=tuple(
            replace(each, type=clean(each.type), text=clean(each.text)) for each in finding.context
        ),
        about=finding.about.cleaned(clean),
        upstream=finding.upstream
        and replace(
            finding.upstream,
            type=clean(finding.upstream.type),
            text=clean(finding.upstream.text),
        ),
    )
