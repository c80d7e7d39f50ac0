"""A gateway with one common fault, for pages that judge one: white space at the edges is lost."""

from __future__ import annotations

import os

from tests.fakes.gateway import Gateway

APP = Gateway(upstream=os.environ.get("UPSTREAM", "http://127.0.0.1:9000/v1"), trims=True)
