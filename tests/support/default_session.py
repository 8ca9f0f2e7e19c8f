# SPDX-License-Identifier: Apache-2.0
"""A default graph with a session for each test of a file.

A file has ``fresh = default_session(tf)``, or with ``pkg.graph``, and may import run().
"""

import pytest

from pkg.graph.defaults import get_default_session


def default_session(module):
    """A fixture for all tests of a file: a graph and a session of this module."""

    @pytest.fixture(autouse=True)
    def fresh():
        with module.Graph().as_default(), module.Session():
            yield

    return fresh


def run(fetches, feeds=None):
    """What the default session gives."""
    return get_default_session().run(fetches, feeds)
