"""Shapes of keys by the prefixes that their vendors publish, a line each.

Only what a prefix shows alone is here; a shape that needs more is a pattern of `credentials`.
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
_BASE64: Final = "A-Za-z0-9+/="
_LOWER: Final = "a-z0-9"
# After a short prefix a name in code could stand: what was drawn at random has all of these.
_KINDS: Final = (("0-9", "[0-9]"), ("A-Z", "[A-Z]"), ("a-z", "[a-z]"))


class KeyShape(NamedTuple):
    """A rule of redaction, and the keys that it knows by their prefixes."""

    rule: str
    prefixes: tuple[str, ...]
    characters: str
    least: int
    mixed: bool = False  # whether each kind of character must occur among the first 60

    def patterns(self) -> Iterator[tuple[str, bytes, bytes]]:
        """Rule, what must be there, and the pattern, for each prefix."""
        kinds = [pattern for kind, pattern in _KINDS if kind in self.characters and self.mixed]
        ahead = "".join(f"(?=[{self.characters}]{{0,60}}?{pattern})" for pattern in kinds)
        rest = f"({ahead}[{self.characters}]{{{self.least},}}+)".encode()
        for prefix in self.prefixes:
            yield self.rule, prefix.encode(), re.escape(prefix).encode() + rest


KEY_SHAPES: Final = (
    KeyShape("key.vault", ("hvs.", "hvb.", "hvr."), _BASE64URL, 20),
    KeyShape("key.notion", ("ntn_", "secret_"), _WORD, 40),
    KeyShape("key.shopify", ("shpat_", "shpca_", "shppa_", "shpss_"), _HEX, 32),
    KeyShape("key.discord", ("mfa.",), _BASE64URL, 60),
    KeyShape("key.linear", ("lin_api_", "lin_oauth_"), _WORD, 30),
    KeyShape("key.doppler", ("dp.pt.", "dp.ct.", "dp.sa.", "dp.st.", "dp.scim."), _DOTTED, 40),
    KeyShape("key.elevenlabs", ("sk_",), _HEX, 40),
    KeyShape("key.langfuse", ("pk-lf-",), "a-f0-9-", 32),
    KeyShape("key.mailgun", ("key-",), "a-f0-9", 32),
    KeyShape("key.square", ("sq0atp-", "sq0csp-"), _BASE64URL, 20),
    KeyShape("key.square", ("EAAA",), _BASE64URL, 22, mixed=True),
    KeyShape("key.grafana", ("glsa_", "glc_"), "A-Za-z0-9_+/=", 32),
    KeyShape("key.postman", ("PMAK-",), "a-fA-F0-9-", 50),
    KeyShape("key.postman", ("PMAT-",), _WORD, 26),
    KeyShape("key.pulumi", ("pul-",), "a-f0-9", 40),
    KeyShape("key.new-relic", ("NRAK-", "NRJS-", "NRII-"), _BASE64URL, 19),
    KeyShape("key.sentry", ("sntrys_", "sntryu_"), "A-Za-z0-9_+/=-", 40),
    KeyShape("key.atlassian", ("ATATT3", "ATCTT3", "ATBB"), "A-Za-z0-9_=-", 28),
    KeyShape("key.atlassian", ("ATAT",), "A-Za-z0-9_=-", 96),
    KeyShape("key.dropbox", ("sl.",), _BASE64URL, 60),
    KeyShape("key.figma", ("figd_",), _BASE64URL, 36),
    KeyShape("key.fly", ("fo1_", "fm1_", "fm2_"), "A-Za-z0-9_+/=-", 40),
    KeyShape("key.heroku", ("HRKU-",), _BASE64URL, 30),
    KeyShape("key.hubspot", ("pat-na1-", "pat-eu1-"), "a-f0-9-", 32),
    KeyShape("key.netlify", ("nfp_",), _WORD, 36),
    KeyShape("key.vercel", ("vercel_blob_rw_",), _BASE64URL, 20),
    KeyShape("key.supabase", ("sbp_", "sb_secret_"), _BASE64URL, 28),
    KeyShape(
        "key.planetscale", ("pscale_tkn_", "pscale_oauth_", "pscale_pw_"), "A-Za-z0-9_.=-", 32
    ),
    KeyShape("key.rubygems", ("rubygems_",), "a-f0-9", 48),
    KeyShape("key.docker", ("dckr_pat_", "dckr_oat_"), _BASE64URL, 20),
    KeyShape("key.alibaba", ("LTAI",), _WORD, 16),
    KeyShape("key.alibaba", ("STS.",), _WORD, 16, mixed=True),
    KeyShape("key.tencent", ("AKID",), _WORD, 28),
    KeyShape("key.pinecone", ("pcsk_",), _BASE64URL, 40),
    KeyShape("key.jina", ("jina_",), _WORD, 40),
    KeyShape("key.firecrawl", ("fc-",), "a-f0-9", 32),
    KeyShape("key.e2b", ("e2b_",), "a-f0-9", 40),
    KeyShape("key.runpod", ("rpa_",), _WORD, 30),
    KeyShape("key.wandb", ("wandb_v1_",), _BASE64URL, 40),
    KeyShape("key.brevo", ("xkeysib-",), "a-f0-9A-Za-z-", 64),
    KeyShape("key.posthog", ("phx_", "phc_"), _BASE64URL, 40),
    KeyShape("key.easypost", ("EZAK", "EZTK"), _WORD, 54),
    KeyShape("key.contentful", ("CFPAT-",), _BASE64URL, 40),
    KeyShape("key.age", ("AGE-SECRET-KEY-1",), _UPPER, 50),
    KeyShape("key.1password", ("ops_eyJ",), "A-Za-z0-9_+/=-", 100),
    KeyShape("key.1password", ("A3-",), "A-Z0-9-", 36),
    KeyShape("key.nuget", ("oy2",), "a-z0-9", 43),
    KeyShape("key.typeform", ("tfp_",), _DOTTED, 40),
    KeyShape("key.prefect", ("pnu_", "pnb_"), _WORD, 36),
    KeyShape("key.readme", ("rdme_",), "a-z0-9", 60),
    KeyShape("key.infracost", ("ico-",), _WORD, 32),
    KeyShape("key.duffel", ("duffel_live_", "duffel_test_"), "A-Za-z0-9_=-", 40),
    KeyShape("key.frame", ("fio-u-",), "A-Za-z0-9_=-", 60),
    KeyShape("key.artifactory", ("AKCp",), _WORD, 60),
    KeyShape("key.clojars", ("CLOJARS_",), "a-z0-9", 56),
    KeyShape("key.ionic", ("ion_",), _WORD, 40),
    KeyShape("key.sourcegraph", ("sgp_",), "A-Za-z0-9_", 40),
    KeyShape("key.discord", ("discord.com/api/webhooks/",), "A-Za-z0-9_/-", 60),
    KeyShape(
        "key.slack-hook",
        tuple(f"hooks.slack.com/{kind}/" for kind in ("services", "workflows", "triggers")),
        "A-Za-z0-9+/",
        30,
    ),
    KeyShape("key.teams-hook", ("webhook.office.com/webhookb2/",), "A-Za-z0-9@/-", 40),
    KeyShape("key.adobe", ("p8e-",), _WORD, 32),
    KeyShape("key.aikido", ("AIK_CI_", "AIK_CLIENT_", "AIK_SECRET_"), _WORD, 20),
    KeyShape("key.apify", ("apify_api_",), _WORD, 30),
    KeyShape("key.artifactory-reference", ("cmVmd",), _WORD, 59),
    KeyShape("key.asaas", ("$aact_prod_", "$aact_hmlg_"), _BASE64URL, 20),
    KeyShape("key.astra", ("AstraCS:",), _DOTTED, 20),
    KeyShape("key.bedrock-short", ("bedrock-api-key-",), _BASE64, 28),
    KeyShape("key.bitbucket", ("BBDC-",), _BASE64, 32),
    KeyShape("key.brave", ("BSA",), _BASE64URL, 24, mixed=True),
    KeyShape(
        "key.buildkite",
        ("bkaa_", "bkaj_", "bkar_", "bkct_", "bkpt_", "bkpat_", "bkps_", "bkua_"),
        _BASE64URL,
        40,
    ),
    KeyShape("key.canva", ("cnvca",), _BASE64URL, 51),
    KeyShape("key.cartesia", ("sk_car_",), "A-Za-z0-9_", 20),
    KeyShape("key.circleci", ("CCIPAT_", "CCIPRJ_"), "A-Za-z0-9_", 60),
    KeyShape("key.clickhouse", ("4b1d",), _WORD, 38, mixed=True),
    KeyShape("key.cloudflare", ("cfat_", "cfut_"), _WORD, 40),
    KeyShape("key.cloudflare", ("v1.0-",), "a-f0-9-", 160),
    KeyShape("key.cloudsmith", ("csa_",), _WORD, 36),
    KeyShape("key.cockroach", ("CCDB1_",), "A-Za-z0-9_", 60),
    KeyShape("key.configcat", ("configcat-sdk-1/",), "A-Za-z0-9_/-", 45),
    KeyShape("key.deno", ("ddp_", "ddo_"), _WORD, 36),
    KeyShape("key.devcycle", ("dvc_client_", "dvc_mobile_", "dvc_server_"), _WORD, 8),
    KeyShape("key.devin", ("apk_user_", "apk_"), _BASE64, 80),
    KeyShape("key.devin", ("cog_",), "a-z2-7", 52),
    KeyShape("key.docker-swarm", ("SWMTKN-1-", "SWMKEY-1-"), "A-Za-z0-9+/-", 40),
    KeyShape("key.dynatrace", ("dt0c01.", "dt0s01."), "A-Za-z0-9.", 80),
    KeyShape("key.elastic", ("essu_",), "A-Za-z0-9_=-", 60),
    KeyShape("key.exoscale", ("EXO",), _WORD, 24, mixed=True),
    KeyShape("key.facebook", ("EAAC", "EAAM"), _WORD, 100),
    KeyShape("key.flutterwave", ("FLWSECK_TEST-", "FLWPUBK_TEST-"), "A-Za-z0-9-", 12),
    KeyShape("key.fly", ("FlyV1 ",), "A-Za-z0-9_=,/+-", 100),
    KeyShape("key.gemini", ("AQ.Ab8",), _BASE64URL, 40),
    KeyShape("key.gitlab-runner", ("GR1348941",), _BASE64URL, 20),
    KeyShape("key.gitlab-session", ("_gitlab_session=",), _LOWER, 32),
    KeyShape("key.grafana", ("eyJrIjoi",), _BASE64, 40),
    KeyShape("key.huggingface", ("api_org_",), _WORD, 30),
    KeyShape("key.intra42", ("s-s4t2ud-", "s-s4t2af-"), _HEX, 64),
    KeyShape("key.jwt-base64", ("ZXlK",), "A-Za-z0-9_+/=-", 45),
    KeyShape("key.lark", ("cli_",), _LOWER, 16, mixed=True),
    KeyShape("key.lichess", ("lip_",), "A-Za-z0-9_", 16, mixed=True),
    KeyShape("key.llama-cloud", ("llx-",), _WORD, 40),
    KeyShape("key.mailersend", ("mlsn.",), _WORD, 30),
    KeyShape("key.mercury", ("mercury_production_",), "A-Za-z0-9_", 50),
    KeyShape("key.mergify", ("mergify_application_key_",), _BASE64URL, 40),
    KeyShape("key.miro", ("eyJtaXJv",), _BASE64URL, 31),
    KeyShape("key.mongodb", ("mdb_sa_sk_", "mdb_sa_id_"), _BASE64URL, 24),
    KeyShape("key.neon", ("napi_",), _WORD, 60),
    KeyShape("key.notify", ("gcntfy-",), _BASE64URL, 70),
    KeyShape("key.nylas", ("nyk_",), _WORD, 60),
    KeyShape("key.octopus", ("API-",), _UPPER, 26),
    KeyShape("key.onesignal", ("os_v2_app_", "os_v2_org_"), "a-z2-7", 100),
    KeyShape("key.onfido", ("api_live.", "api_live_ca.", "api_live_us."), _BASE64URL, 20),
    KeyShape("key.openshift", ("sha256~",), _BASE64URL, 43),
    KeyShape(
        "key.packagist",
        tuple(f"packagist_{each}_" for each in ("ort", "out", "acs", "ack")),
        _HEX,
        28,
    ),
    KeyShape("key.paddle", ("pdl_live_apikey_", "pdl_sdbx_apikey_"), "A-Za-z0-9_", 50),
    KeyShape("key.persona", ("persona_production_",), "a-z0-9_-", 20, mixed=True),
    KeyShape("key.pinterest", ("pina_",), _BASE64URL, 20, mixed=True),
    KeyShape("key.polar", ("polar_at_", "polar_oat_", "polar_pat_"), _BASE64URL, 20, mixed=True),
    KeyShape("key.proof", ("prf_",), _BASE64URL, 20, mixed=True),
    KeyShape("key.ramp", ("ramp_id_", "ramp_sec_"), _WORD, 40),
    KeyShape("key.razorpay", ("rzp_live_", "rzp_test_"), _WORD, 14),
    KeyShape("key.render", ("rnd_",), _WORD, 28, mixed=True),
    KeyShape("key.rootly", ("rootly_",), _HEX, 60),
    KeyShape("key.samsara", ("samsara_api_",), _WORD, 26),
    KeyShape("key.scalingo", ("tk-us-",), _BASE64URL, 48),
    KeyShape("key.settlemint", ("sm_aat_", "sm_pat_", "sm_sat_"), _WORD, 16),
    KeyShape("key.shippo", ("shippo_live_", "shippo_test_"), _HEX, 40),
    KeyShape("key.tailscale", ("tskey-api-", "tskey-auth-", "tskey-client-"), _BASE64URL, 20),
    KeyShape("key.thunderstore", ("tss_",), _BASE64URL, 20, mixed=True),
    KeyShape("key.unkey", ("unkey_",), _WORD, 20, mixed=True),
    KeyShape("key.upcloud", ("ucat_",), _WORD, 24),
    KeyShape("key.val-town", ("vtwn_",), _BASE64URL, 20, mixed=True),
    KeyShape("key.vercel-token", ("vck_", "vca_", "vcr_", "vci_", "vcp_"), _BASE64URL, 50),
    KeyShape("key.voyage", ("pa-", "al-"), _BASE64URL, 43, mixed=True),
    KeyShape("key.wakatime", ("waka_",), "A-Za-z0-9-", 36),
    KeyShape("key.xendit", ("xnd_production_", "xnd_development_"), _WORD, 56),
    KeyShape("key.zuplo", ("zpka_",), "a-z0-9_", 40),
)
PREFIXES: Final = tuple(prefix for shape in KEY_SHAPES for prefix in shape.prefixes)
PATTERNS: Final = tuple(pattern for shape in KEY_SHAPES for pattern in shape.patterns())
