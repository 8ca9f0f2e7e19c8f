# SPDX-License-Identifier: Apache-2.0
"""``python -m pkg.swigkit``, and ``python FOLDER`` of this folder wherever it lies.

The latter loads nothing of pkg: builds use it.
"""

import sys
from pathlib import Path

if not __package__:  # run as a folder: then Python has put the folder itself first
    folder = Path(__file__).resolve().parent
    sys.path[0] = str(folder.parent)
    __package__ = folder.name

from .build.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
