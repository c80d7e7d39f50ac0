from __future__ import annotations

import pytest

pytest.importorskip("pyarrow", reason="corpora need pyarrow")
