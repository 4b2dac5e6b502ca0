"""``make faults``: runs the fault tests at full size and prints a table of their results.

``python -m tests.tools.run_faults [--json FILE]``; all other arguments go to pytest.
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
    options, pytest_arguments = parser.parse_known_args()
    with tempfile.TemporaryDirectory(prefix="phrasecom-faults-") as folder:
        file = (options.json or Path(folder) / "rows.json").absolute()
        file.unlink(missing_ok=True)
        full_run = {"PHRASECOM_TEST_FAULTS": "full", RESULTS_FILE_VARIABLE: str(file)}
        env = {"PHRASECOM_TEST_WORLDS": "100"} | os.environ | full_run
        has_path = any(Path(a.partition("::")[0]).exists() for a in pytest_arguments if not a.startswith("-"))
        command = [sys.executable, "-m", "pytest", "-W", "error", *pytest_arguments]
        status = subprocess.run(command if has_path else [*command, "tests/faults"], env=env, check=False)
        results = read_results(file)
    print()
    print(format_table(results) if results else "no fault was tried")
    return status.returncode


if __name__ == "__main__":
    sys.exit(main())
