# SPDX-License-Identifier: Apache-2.0
"""``python -m pkg``: train, predict, info, wrap.  See cli/."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
