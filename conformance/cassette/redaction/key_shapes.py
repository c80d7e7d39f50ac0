"""Shapes of keys by the prefixes that their vendors publish, a line each.

Only what a prefix tells alone stands here; a shape that needs more is a pattern of `credentials`.
A line says: rule, prefixes, characters, and how many there are at least.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_WORD: Final = "A-Za-z0-9"
_BASE64URL: Final = "A-Za-z0-9_-"
_HEX: Final = "a-fA-F0-9"
_UPPER: Final = "A-Z0-9"
_DOTTED: Final = "A-Za-z0-9_.-"


class KeyShape(NamedTuple):
    """A rule of redaction, and the keys that it knows by their prefixes."""

    rule: str
    prefixes: tuple[str, ...]
    characters: str
    least: int

    def patterns(self) -> Iterator[tuple[str, bytes, bytes]]:
        """Rule, what must be there, and the pattern, for each prefix."""
        rest = f"([{self.characters}]{{{self.least},}}+)".encode()
        for prefix in self.prefixes:
            yield self.rule, prefix.encode(), re.escape(prefix).encode() + rest


KEY_SHAPES: Final = (
    KeyShape("key.vault", ("hvs.", "hvb.", "hvr."), _BASE64URL, 20),
    KeyShape("key.notion", ("ntn_", "secret_"), _WORD, 40),
    KeyShape("key.shopify", ("shpat_", "shpca_", "shppa_", "shpss_"), _HEX, 32),
    KeyShape("key.linear", ("lin_api_", "lin_oauth_"), _WORD, 30),
    KeyShape("key.doppler", ("dp.pt.", "dp.ct.", "dp.sa.", "dp.st.", "dp.scim."), _DOTTED, 40),
    KeyShape("key.elevenlabs", ("sk_",), _HEX, 40),
    KeyShape("key.langfuse", ("pk-lf-",), "a-f0-9-", 32),
    KeyShape("key.mailgun", ("key-",), "a-f0-9", 32),
    KeyShape("key.square", ("sq0atp-", "sq0csp-"), _BASE64URL, 20),
    KeyShape("key.grafana", ("glsa_", "glc_"), "A-Za-z0-9_+/=", 32),
    KeyShape("key.postman", ("PMAK-",), "a-f0-9-", 50),
    KeyShape("key.pulumi", ("pul-",), "a-f0-9", 40),
    KeyShape("key.new-relic", ("NRAK-", "NRJS-", "NRII-"), _BASE64URL, 19),
    KeyShape("key.sentry", ("sntrys_", "sntryu_"), "A-Za-z0-9_+/=-", 40),
    KeyShape("key.atlassian", ("ATATT3", "ATCTT3", "ATBB"), "A-Za-z0-9_=-", 28),
    KeyShape("key.dropbox", ("sl.",), _BASE64URL, 60),
    KeyShape("key.figma", ("figd_",), _BASE64URL, 36),
    KeyShape("key.fly", ("fo1_", "fm1_", "fm2_"), "A-Za-z0-9_+/=-", 40),
    KeyShape("key.heroku", ("HRKU-",), _BASE64URL, 30),
    KeyShape("key.hubspot", ("pat-na1-", "pat-eu1-"), "a-f0-9-", 32),
    KeyShape("key.netlify", ("nfp_",), _WORD, 36),
    KeyShape("key.vercel", ("vercel_blob_rw_",), _BASE64URL, 20),
    KeyShape("key.supabase", ("sbp_", "sb_secret_"), _BASE64URL, 28),
    KeyShape("key.planetscale", ("pscale_tkn_", "pscale_oauth_", "pscale_pw_"), _DOTTED, 32),
    KeyShape("key.rubygems", ("rubygems_",), "a-f0-9", 48),
    KeyShape("key.docker", ("dckr_pat_", "dckr_oat_"), _BASE64URL, 20),
    KeyShape("key.alibaba", ("LTAI",), _WORD, 16),
    KeyShape("key.tencent", ("AKID",), _WORD, 28),
    KeyShape("key.pinecone", ("pcsk_",), _BASE64URL, 40),
    KeyShape("key.jina", ("jina_",), _WORD, 40),
    KeyShape("key.firecrawl", ("fc-",), "a-f0-9", 32),
    KeyShape("key.e2b", ("e2b_",), "a-f0-9", 40),
    KeyShape("key.runpod", ("rpa_",), _WORD, 40),
    KeyShape("key.wandb", ("wandb_v1_",), _BASE64URL, 40),
    KeyShape("key.brevo", ("xkeysib-",), "a-f0-9A-Za-z-", 64),
    KeyShape("key.posthog", ("phx_", "phc_"), _WORD, 40),
    KeyShape("key.easypost", ("EZAK", "EZTK"), _WORD, 54),
    KeyShape("key.contentful", ("CFPAT-",), _BASE64URL, 40),
    KeyShape("key.age", ("AGE-SECRET-KEY-1",), _UPPER, 50),
    KeyShape("key.1password", ("ops_eyJ",), _BASE64URL, 100),
    KeyShape("key.nuget", ("oy2",), "a-z0-9", 43),
    KeyShape("key.typeform", ("tfp_",), _DOTTED, 40),
    KeyShape("key.prefect", ("pnu_", "pnb_"), _WORD, 36),
    KeyShape("key.readme", ("rdme_",), "a-z0-9", 60),
    KeyShape("key.infracost", ("ico-",), _WORD, 32),
    KeyShape("key.duffel", ("duffel_live_", "duffel_test_"), _BASE64URL, 40),
    KeyShape("key.frame", ("fio-u-",), "A-Za-z0-9_=-", 60),
    KeyShape("key.artifactory", ("AKCp",), _WORD, 60),
    KeyShape("key.clojars", ("CLOJARS_",), "a-z0-9", 56),
    KeyShape("key.ionic", ("ion_",), _WORD, 40),
    KeyShape("key.sourcegraph", ("sgp_",), "A-Za-z0-9_", 40),
    KeyShape("key.discord", ("discord.com/api/webhooks/",), "A-Za-z0-9_/-", 60),
    KeyShape("key.slack-hook", ("hooks.slack.com/services/",), "A-Za-z0-9/", 30),
)
PREFIXES: Final = tuple(prefix for shape in KEY_SHAPES for prefix in shape.prefixes)
PATTERNS: Final = tuple(pattern for shape in KEY_SHAPES for pattern in shape.patterns())
