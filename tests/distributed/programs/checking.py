# SPDX-License-Identifier: Apache-2.0
"""What the programs of checks share: comparing, expecting errors, running all."""

import sys
import traceback

import numpy as np

import pkg


def equal(got, wanted):
    got = got.to(pkg.float64) if got.is_floating_point() else got
    assert np.array_equal(got.numpy(), np.asarray(wanted)), (got, wanted)


def raises(kind, text, function, *args, **options):
    try:
        function(*args, **options)
    except kind as error:
        assert text in str(error), (text, str(error))
        return str(error)
    raise AssertionError(f"no {kind.__name__}: {text}")


def run(checks):
    """Prints `ok NAME` for each, but for those named by arguments, after --without."""
    for check in checks:
        if check.__name__ in sys.argv[1:]:
            continue
        try:
            check()
            print("ok", check.__name__)
        except Exception:
            traceback.print_exc()
            print("FAIL", check.__name__)
            sys.exit(1)  # the others may wait for us: this ends them
