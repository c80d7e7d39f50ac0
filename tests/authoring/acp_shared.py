"""What streams of other files share with those of the Agent Client Protocol."""

from __future__ import annotations

from functools import partial
from typing import Final

from tests.authoring.draft import output_draft

DIALECT: Final = "acp"

drafted = partial(output_draft, dialect=DIALECT)
