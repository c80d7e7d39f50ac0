"""The environment of a program under test: what programs need to start, and nothing else.

A program under test must not get the user's keys. So variables are passed on by name: paths of
programs and libraries, the user's name and folders, the language, the terminal, proxies and
certificate authorities. `--pass NAME` adds another one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Final

from conformance.core.errors import UsageError
from conformance.targets.child_process import without_proxy

_USER: Final = "HOME USER LOGNAME SHELL PWD TMPDIR TMP TEMP TZ CI"
_LANGUAGE: Final = "LANG LANGUAGE"
_TERMINAL: Final = "TERM TERMINFO TERMINFO_DIRS COLORTERM COLUMNS LINES NO_COLOR FORCE_COLOR"
_FOLDERS: Final = (
    "XDG_CONFIG_HOME XDG_CACHE_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_CONFIG_DIRS XDG_DATA_DIRS"
)
_LOADERS: Final = "PATH LD_LIBRARY_PATH DYLD_LIBRARY_PATH DYLD_FALLBACK_LIBRARY_PATH"
_PYTHON: Final = (
    "PYTHONPATH PYTHONHOME PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONIOENCODING PYTHONUTF8"
    " PYTHONWARNINGS VIRTUAL_ENV CONDA_PREFIX PYENV_ROOT PYENV_VERSION UV_CACHE_DIR"
)
_NODE: Final = (
    "NODE_PATH NODE_OPTIONS NVM_DIR NVM_BIN VOLTA_HOME FNM_DIR FNM_MULTISHELL_PATH PNPM_HOME"
    " BUN_INSTALL DENO_DIR DENO_INSTALL"
)
_OTHERS: Final = (
    "JAVA_HOME GOROOT GOPATH GOCACHE GOMODCACHE CARGO_HOME RUSTUP_HOME RUSTUP_TOOLCHAIN GEM_HOME"
    " GEM_PATH DOTNET_ROOT ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR NIX_PATH NIX_PROFILES"
)
_PROXIES: Final = "HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY"
_AUTHORITIES: Final = (
    "SSL_CERT_FILE SSL_CERT_DIR NIX_SSL_CERT_FILE CURL_CA_BUNDLE REQUESTS_CA_BUNDLE AWS_CA_BUNDLE"
    " NODE_EXTRA_CA_CERTS DENO_CERT CARGO_HTTP_CAINFO GIT_SSL_CAINFO PIP_CERT HTTPLIB2_CA_CERTS"
    " GRPC_DEFAULT_SSL_ROOTS_FILE_PATH"
)
_GROUPS: Final = (
    *(_USER, _LANGUAGE, _TERMINAL, _FOLDERS, _LOADERS, _PYTHON, _NODE, _OTHERS, _AUTHORITIES),
    *(_PROXIES, _PROXIES.lower()),
)
ALWAYS_PASSED: Final = frozenset(" ".join(_GROUPS).split())
_LOCALE: Final = "LC_"
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def passed_environment(
    added: Iterable[str] = (), environment: Mapping[str, str] | None = None
) -> dict[str, str]:
    """What of our environment (or of another one) a program under test gets.

    Nothing is between it and this machine. Raises UsageError for a name in `added` that is
    none, or that the environment does not have.
    """
    ours = os.environ if environment is None else environment
    named = frozenset(added)
    for name in sorted(named):
        _check_name(name, ours)
    passed = {name: value for name, value in ours.items() if name in named or _is_usual(name)}
    return without_proxy(passed)


def _is_usual(name: str) -> bool:
    return name in ALWAYS_PASSED or name.startswith(_LOCALE)


def _check_name(name: str, environment: Mapping[str, str]) -> None:
    if not _NAME.fullmatch(name):
        # What comes after "=" may be a key.
        shown = name.partition("=")[0]
        raise UsageError(f"--pass expects the name of a variable, got {shown!r}")
    if name not in environment:
        raise UsageError(f"--pass {name}: the environment has no such variable")
