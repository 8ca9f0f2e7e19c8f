# SPDX-License-Identifier: Apache-2.0
"""``python -m pkg.swigkit``, and ``python FOLDER`` of this folder wherever it lies.

The latter loads nothing of pkg: builds use it.
"""

import importlib
import sys
from pathlib import Path

package = __package__
if not package:  # run as a folder: then Python has put the folder itself first
    folder = Path(__file__).resolve().parent
    sys.path[0] = str(folder.parent)
    package = folder.name

command = importlib.import_module(".build.command", package)

if __name__ == "__main__":
    sys.exit(command.main(sys.argv[1:]))
