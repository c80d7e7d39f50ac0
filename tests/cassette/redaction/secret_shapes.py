"""Secrets as their owners publish the shapes of them; none was ever valid.

Written in pieces, so that nobody's search for secrets finds them here.
"""

from __future__ import annotations

from typing import Final

_HEX = "0123456789abcdef"
_MIX = "Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9St0Uv"
_B64 = "QWxhZGRpbjpvcGVuIHNlc2FtZTEyMzQ1Njc4OTA"

# Name -> what must not be read afterwards. Where the shape alone tells.
SHAPES: Final = {
    "openai": "sk" + "-" + _MIX + "Wx1Yz2Ab3Cd4Ef5G",
    "openai project": "sk" + "-proj-" + _MIX + "_" + _MIX,
    "openai service account": "sk" + "-svcacct-" + _MIX,
    "openai session": "sess" + "-" + _MIX,
    "anthropic": "sk" + "-ant-api03-" + _MIX + "-" + _MIX + "AA",
    "anthropic oauth": "sk" + "-ant-oat01-" + _MIX,
    "openrouter": "sk" + "-or-v1-" + _HEX * 4,
    "deepseek": "sk" + "-" + _HEX * 2,
    "litellm": "sk" + "-litellm-" + _MIX,
    "langfuse": "sk" + "-lf-12345678-abcd-ef01-2345-6789abcdef01",
    "google": "AI" + "zaSyA1234567890abcdefghijklmnopqrstuv",
    "google oauth": "ya29" + ".a0Af" + _MIX + "-" + _MIX,
    "google client": "GOC" + "SPX-" + _MIX[:28],
    "github": "gh" + "p_" + _MIX + "ab12",
    "github app": "gh" + "s_" + _MIX + "ab12",
    "github fine-grained": "github" + "_pat_11ABCDEFG0" + _MIX + "_" + _MIX,
    "gitlab": "gl" + "pat-" + _MIX[:20],
    "slack bot": "xo" + "xb-123456789012-1234567890123-" + _MIX[:24],
    "slack app": "xa" + "pp-1-A0123456789-1234567890-" + _HEX,
    "aws access key": "AK" + "IAIOSFODNN7EXAMPL2",
    "aws temporary key": "AS" + "IAIOSFODNN7EXAMPL2",
    "bedrock": "AB" + "SK" + _B64 + _B64,
    "hugging face": "hf" + "_" + "AbCdEfGhIjKlMnOpQrStUvWxYzAbCdEfGh",
    "groq": "gs" + "k_" + _MIX + _MIX[:20],
    "xai": "xa" + "i-" + _MIX + _MIX + _MIX[:16],
    "nvidia": "nv" + "api-" + _MIX + "-" + _MIX,
    "perplexity": "pp" + "lx-" + _MIX + _MIX[:16],
    "fireworks": "fw" + "_" + _MIX[:24],
    "together": "tg" + "p_v1_" + _MIX + "_" + _MIX[:10],
    "replicate": "r8" + "_" + _MIX + "abcde",
    "cerebras": "cs" + "k-" + "abcd1234" * 6,
    "langsmith": "ls" + "v2_pt_" + _HEX * 2 + "_" + _HEX[:10],
    "tavily": "tv" + "ly-dev-" + _MIX,
    "stripe": "sk" + "_live_" + _MIX[:24],
    "npm": "np" + "m_" + _MIX + "abcd",
    "pypi": "py" + "pi-AgEIcHlwaS5vcmc" + _MIX + _MIX,
    "sendgrid": "SG" + "." + _MIX[:22] + "." + _MIX + _MIX[:11],
    "digitalocean": "do" + "p_v1_" + _HEX * 4,
    "databricks": "da" + "pi" + _HEX * 2,
    "jwt": "ey" + "JhbGciOiJIUzI1NiJ9.ey" + "JzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
    "bearer": "Bearer " + "0123-abcd.EFGH_ijkl~mnop+qrst/uvwx==",
    "basic": "Basic " + _B64 + "=",
    "organisation id": "org" + "-" + _MIX[:24],
    "user id": "user" + "-" + _MIX[:24],
    "project id": "proj" + "_" + _MIX[:24],
    "private key": "-----BEGIN PRIVATE KEY-----\\n" + _B64 * 3 + "\\n-----END PRIVATE KEY-----",
    "password in a URL": "https://admin:" + "hunter2-Xy9" + "@db.example/x",
    "key in a URL": "https://api.example/v1?key=" + _MIX[:20],
    "signed URL": "https://blob.example/x?sv=1&sig=" + _MIX + "%3D",
}

# Name -> JSON around it, what must not be read afterwards. Where the field tells.
FIELDS: Final = {
    "api_key": ('{"tools":[{"api_key":"%s"}]}', "no-shape-at-all-7"),
    "authorization": ('{"tools":[{"type":"mcp","authorization":"%s"}]}', _MIX),
    "aws secret": ('{"aws_secret_access_key":"%s"}', "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    "azure key": ('{"api-key": "%s"}', _HEX * 2),
    "client secret": ('{"client_secret":"%s"}', "8Q~abcdefghijklmnop"),
    "password": ('{"password":"%s"}', 'p\\"w é\\u00e9 1234'),
    "session token": ('{"sessionToken":"%s"}', "FwoGZXIvYXdz" + _B64),
    "inside a string": ('{"arguments":"{\\"api_key\\": \\"%s\\"}"}', "no-shape-at-all-7"),
    "user": ('{"model":"m","user":"%s"}', "jane.doe@example.com"),
    "safety identifier": ('{"response":{"safety_identifier":"%s"}}', "user-17-of-berlin"),
    "metadata": ('{"metadata":{"user_id":"%s"}}', "user_abc_account_1"),
    "organization": ('{"error":{"organization":"%s"}}', "acme-research"),
    "signature": ('{"type":"signature_delta","signature":"%s"}', _B64 * 3),
    "encrypted content": ('{"type":"reasoning","encrypted_content":"%s"}', "gAAAAAB" + _B64),
    "redacted thinking": ('{"content_block":{"type":"redacted_thinking","data":"%s"}}', _B64 * 2),
}
