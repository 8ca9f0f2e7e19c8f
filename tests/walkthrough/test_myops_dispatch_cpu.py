# SPDX-License-Identifier: Apache-2.0
"""myops_dispatch_cpu: ops by name, with one kernel for each backend."""

import threading

import pytest
import stages

import pkg
from child import DEADLINE, run_child


@pytest.fixture
def ops(binding):
    return stages.load("myops_dispatch_cpu", binding)


def test_run_op_computes_and_names_what_is_missing(ops):
    assert ops.run_op("add", 3, 4) == 7.0
    assert ops.run_op("mul", 3, 4) == 12.0
    with pytest.raises(RuntimeError, match="^No op registered: ad. Nearest: add") as e:
        ops.run_op("ad", 1, 2)
    assert isinstance(e.value, LookupError) and isinstance(e.value, pkg.OpLookupError)
    assert str(e.value).endswith("2 ops are registered.")
    with pytest.raises(TypeError):
        ops.run_op("add", "3", 4)


def test_ops_have_backends(ops):
    entry = ops.register_op("add", lambda a, b: a - b, backend="X")
    try:
        assert ops.run_op("add", 3, 4, backend="X") == -1.0
        assert ops.run_op("add", 3, 4) == 7.0
        with pytest.raises(RuntimeError, match="add for backend Y.*exists for: CPU, X"):
            ops.run_op("add", 3, 4, backend="Y")
    finally:
        entry.remove()


def test_w12_registering_while_others_run(ops):
    stop = threading.Event()
    errors = []

    def running():
        while not stop.is_set():
            try:
                assert ops.run_op("w12", 1, 2) in (3.0, -1.0)
            except Exception as error:  # noqa: BLE001
                errors.append(error)

    base = ops.register_op("w12", lambda a, b: a + b)
    threads = [threading.Thread(target=running) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(100):
        entry = ops.register_op("w12", lambda a, b: a - b, overwrite=True)
        ops.register_op("other", lambda a, b: 0).remove()
        entry.remove()
    stop.set()
    for thread in threads:
        thread.join(DEADLINE)
    base.remove()
    assert errors == []


def test_w13_a_name_is_not_overwritten_by_accident(ops):
    first = ops.register_op("w13", lambda a, b: 1)
    with pytest.raises(RuntimeError, match="overwrite=True") as caught:
        ops.register_op("w13", lambda a, b: 2)
    assert str(caught.value).count(f"{__file__}:") == 2
    second = ops.register_op("w13", lambda a, b: 2, overwrite=True)
    assert ops.run_op("w13", 0, 0) == 2.0
    with pytest.raises(RuntimeError, match="another registration"):
        first.remove()
    second.remove()
    assert ops.run_op("w13", 0, 0) == 1.0
    first.remove()


def test_w14_what_a_kernel_prints_goes_to_sys_stdout(ops, capsys):
    print("before")
    ops.run_op("add", 3, 4.5)
    print("after")
    assert capsys.readouterr().out == "before\n[C++] executing add(3,4.5)\nafter\n"


def test_w15_other_threads_run_during_a_kernel(ops):
    gate = threading.Event()
    entry = ops.register_op("w15", lambda a, b: gate.wait(DEADLINE))
    threading.Timer(0.05, gate.set).start()
    assert ops.run_op("w15", 1, 2) == 1.0  # another thread set the gate
    entry.remove()


def test_errors_of_kernels_come_as_they_are(ops):
    def fail(a, b):
        raise KeyError("in a kernel")

    entry = ops.register_op("fail", fail)
    with pytest.raises(KeyError, match="in a kernel"):
        ops.run_op("fail", 1, 2)
    entry.remove()


def test_w17_real_ops_keep_their_types():
    assert pkg.add(pkg.tensor(2**62), 1).item() == 2**62 + 1  # no double can hold it


def test_w18_python_kernels_at_exit(binding):
    code = """
        import myops_dispatch_cpu as ops
        class Kernel:
            def __call__(self, a, b): return a
            def __del__(self): import pkg; pkg.zeros(2)
        ops.register_op("first", Kernel())
        ops.run_op("first", 1, 2)
    """
    folder = str(stages.build("myops_dispatch_cpu", binding))
    status, _, err, _ = run_child(code, **stages.path(folder))
    assert (status, err) == (0, "")
