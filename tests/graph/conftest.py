# SPDX-License-Identifier: Apache-2.0
"""What several tests of graphs begin with."""

import pytest

from pkg import graph


@pytest.fixture
def fresh_graph():
    """A default graph of the test's own."""
    with graph.Graph().as_default():
        yield  # not the graph: what a fixture yields outlives the test
