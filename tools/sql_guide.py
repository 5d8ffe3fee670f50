"""Write docs/sql.md again: python tools/sql_guide.py"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.support.sample_guide import sample_guide  # noqa: E402

if __name__ == "__main__":
    (ROOT / "docs" / "sql.md").write_text(sample_guide(), encoding="utf-8")
