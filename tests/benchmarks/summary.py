# SPDX-License-Identifier: Apache-2.0
"""Every benchmark, one table: ``python tests/benchmarks/summary.py [--quick]``.

Each file runs in a process of its own.  Rows end with * where a target is missed.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from harness import HEADER, line

HERE = Path(__file__).parent
SUBJECTS = ("imports", "eager", "training", "matmul", "elementwise")


def main():
    """Runs the subjects in turn; a failing one is named and makes the exit code 1."""
    failed = []
    rows = []
    for subject in SUBJECTS:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "rows.json"
            command = [sys.executable, str(HERE / f"{subject}.py"), "--json", str(file)]
            done = subprocess.run(command + sys.argv[1:], stdout=subprocess.DEVNULL)
            if done.returncode:
                failed.append(subject)
                continue
            rows += json.loads(file.read_text())
    print(HEADER)
    for row in rows:
        print(line(row))
    missed = [r for r in rows if r["ratio"] and r["target"] and r["ratio"] > r["target"]]
    measured = [r for r in rows if r["ratio"] and r["target"]]
    print(f"{len(measured) - len(missed)} of {len(measured)} targets reached")
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
