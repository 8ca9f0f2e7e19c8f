# SPDX-License-Identifier: Apache-2.0
"""Which process of -n runs what: one has all tests of a file."""

from __future__ import annotations

from collections.abc import Sequence

from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController


class FilesInTurn(LoadFileScheduling):
    """xdist's, which looks through all tests whenever one ends or is handed out: with
    some ten thousand that is more than many of them take.  Here what has ended goes."""

    def add_node_collection(
        self, node: WorkerController, collection: Sequence[str]
    ) -> None:
        super().add_node_collection(node, collection)
        if node in self.registered_collections:  # else it is not the others'
            self.places = {name: i for i, name in enumerate(collection)}

    def mark_test_complete(
        self, node: WorkerController, item_index: int, duration: float = 0
    ) -> None:
        name = self.registered_collections[node][item_index]
        files, file = self.assigned_work[node], self._split_scope(name)
        del files[file][name]
        if not files[file]:
            del files[file]
        self._reschedule(node)

    def _pending_of(self, workload: dict[str, dict[str, bool]]) -> int:
        return sum(map(len, workload.values()))

    def _assign_work_unit(self, node: WorkerController) -> None:
        file, tests = self.workqueue.popitem(last=False)
        self.assigned_work[node][file] = tests
        node.send_runtest_some([self.places[name] for name in tests])
