# SPDX-License-Identifier: Apache-2.0
"""``python -m pkg``: train, predict, info, gen-ops, new-op, wrap.  See cli/."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
