"""Where the real raw files are; tests marked `real` are skipped without it (`conftest.py`)."""

import os
from pathlib import Path

MIRROR = Path(os.environ.get("DEEPCAC_MIRROR") or "no-mirror")
