"""``make faults``: the fault tests at full size, then what came of them: ``python -m tests.tools.run_faults [--json FILE]``.

All other arguments go to pytest.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.support.faults.fault_results import RESULTS_FILE_VARIABLE, format_table, read_results


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", type=Path, help="write the table's rows to this file, too")
    given, rest = parser.parse_known_args()
    with tempfile.TemporaryDirectory(prefix="phrasecom-faults-") as folder:
        file = (given.json or Path(folder) / "rows.json").absolute()
        file.unlink(missing_ok=True)
        env = (
            {"PHRASECOM_TEST_WORLDS": "100"}
            | os.environ
            | {"PHRASECOM_TEST_FAULTS": "full", RESULTS_FILE_VARIABLE: str(file)}
        )
        named = any(Path(one.partition("::")[0]).exists() for one in rest if not one.startswith("-"))
        paths = [] if named else ["tests/faults"]
        status = subprocess.run([sys.executable, "-m", "pytest", "-W", "error", *paths, *rest], env=env, check=False)
        rows = read_results(file)
    print()
    print(format_table(rows) if rows else "no fault was tried")
    return status.returncode


if __name__ == "__main__":
    sys.exit(main())
