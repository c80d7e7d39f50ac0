"""Requests signed for AWS (SigV4), as Bedrock takes them from who has no bearer key.

botocore signs, from the extra `bedrock`; its names are known nowhere else.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any, Final

from conformance.cassette.redaction.own_keys import remember_keys
from conformance.core.errors import UsageError

SERVICE: Final = "bedrock"
_REGION: Final = re.compile(r"[a-z]{2}(-[a-z0-9]+)+")
_VARIABLES: Final = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
# Of the headers these are signed; proxies change others on the way.
_SIGNED: Final = frozenset({"host", "content-type"})


class AwsSigner:
    """Signs requests to one region with the credentials of the environment.

    Raises UsageError where there are none, or nothing signs.
    """

    def __init__(self, region: str) -> None:
        if not _REGION.fullmatch(region):
            raise UsageError(f"--aws-region {region!r} is no region", hint="such as us-east-1")
        try:
            from botocore.auth import SigV4Auth  # noqa: PLC0415  # an extra, and slow to load
            from botocore.credentials import Credentials  # noqa: PLC0415  # as above
        except ImportError as err:
            hint = "pip install 'reasoning-conformance[bedrock]', or --api-key-env NAME"
            raise UsageError("--aws-region needs botocore", hint=hint) from err
        key, secret, token = (os.environ.get(name, "").strip() for name in _VARIABLES)
        if not key or not secret:
            hint = "aws configure export-credentials --format env prints them"
            raise UsageError(
                f"${_VARIABLES[0]} and ${_VARIABLES[1]} hold no credentials", hint=hint
            )
        remember_keys(each for each in (secret, token) if each)
        self._auth: Any = SigV4Auth(Credentials(key, secret, token or None), SERVICE, region)

    def signed_headers(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes
    ) -> dict[str, str]:
        """Return the headers that sign a request, to be added to its own."""
        from botocore.awsrequest import AWSRequest  # noqa: PLC0415  # as above

        known = {name: value for name, value in headers.items() if name.lower() in _SIGNED}
        request = AWSRequest(method=method, url=url, headers=known, data=body)
        self._auth.add_auth(request)
        return {name: value for name, value in request.headers.items() if name not in known}


def aws_signer(region: str | None, key_variable: str | None) -> AwsSigner | None:
    """The signer that the options name. Raises UsageError if there is a key, too."""
    if region is None:
        return None
    if key_variable is not None:
        raise UsageError("--aws-region and --api-key-env do not go together")
    return AwsSigner(region)
