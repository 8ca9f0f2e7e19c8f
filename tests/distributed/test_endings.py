# SPDX-License-Identifier: Apache-2.0
"""Ranks that are killed, fail, stall, fork or leave work behind: all end in time."""

import re

import pytest
from ranks import launch

import pkg
import pkg.distributed as hvd
from child import run_child
from pkg import nn, optim
from pkg.cli import main


@pytest.mark.parametrize("how", ["killed", "killed within"])
def test_a_killed_rank_is_an_error_on_the_others(how):
    """Also of those that exchange a large tensor with it at that time."""
    status, out, err, seconds = launch(3, "ending", how)
    for rank in (0, 2):
        assert re.search(
            rf"\[{rank}\]<stdout>:lost after [0-4]\.\d s: .*rank 1 \(process \d+ on "
            r"\S+\) has ended without shutdown",
            out,
        ), (out, err)
    assert status == 137 and "rank 1 ended with exit code 137" in err
    assert seconds < 40


def test_the_exit_code_is_that_of_the_first_rank_that_failed():
    status, out, err, seconds = launch(2, "ending", "fails")
    assert status == 7, (out, err)
    assert "[1]<stderr>:some reason\n" in err
    assert "[0]<stderr>:" in err and "HorovodInternalError" in err
    assert seconds < 40


def test_ranks_that_do_not_end_are_ended():
    """Also one that ignores SIGTERM."""
    status, _, err, seconds = launch(2, "ending", "hangs", options=["--grace", "0.5"])
    assert status == 4, err
    assert seconds < 40


def test_exit_with_work_pending():
    status, out, err, seconds = launch(2, "ending", "pending")
    assert status == 0 and out.count("ready") == 2, err
    assert seconds < 40


def test_a_rank_that_does_not_submit_is_named():
    status, out, err, _ = launch(
        2, "ending", "stalls",
        HOROVOD_STALL_SHUTDOWN_TIME_SECONDS="2", HOROVOD_STALL_CHECK_TIME_SECONDS="1",
    )  # fmt: skip
    assert status == 0, err
    assert re.search(
        r"\[0\]<stderr>:pkg: warning: \[collectives\] some rank has not submitted for "
        r"1 seconds .* It is an error after 2 seconds.\n"
        r"\[0\]<stderr>:  alone: submitted by rank 0 at \S+ending.py:\d+, but not by "
        r"rank 1\n",
        err,
    ), err
    assert re.search(
        r"stalled: \[alone\] stalled: submitted by rank 0 at \S+ending.py:\d+, but not "
        r"by rank 1 within 2 seconds",
        out,
    ), out


@pytest.mark.parametrize("how", ["never there", "not again"])
def test_init_without_the_others_is_an_error_in_time(how):
    """Rank 1 has ended before init(), or does not begin a second session."""
    status, out, err, seconds = launch(
        2, "ending", how, options=["--grace", "20"], HOROVOD_START_TIMEOUT="2"
    )
    assert re.search(
        r"\[0\]<stdout>:no init after [2-9]\.\d s: \[init\] rank 0 has waited 2 "
        r"seconds until all ranks come to init\(\)",
        out,
    ), (out, err)
    assert status == 6, (status, err)
    assert seconds < 40


def test_without_settings_every_wait_ends():
    code = "import pkg.distributed.session as s; print(s._settings()[2:])"
    status, out, err, _ = run_child(code)
    assert (status, out) == (0, "(300, 30)\n"), err


def test_a_limit_that_is_no_number_is_refused():
    status, _, err, _ = run_child(
        """
        import pkg.distributed as hvd
        hvd.init()
        """,
        HOROVOD_START_TIMEOUT="soon",
    )  # fmt: skip
    assert status == 1 and "HOROVOD_START_TIMEOUT" in err and "got 'soon'" in err, err


def test_fork_before_init():
    """Who has only asked whether there is a session has children that begin one."""
    status, out, err, _ = run_child(
        """
        import os, pkg, pkg.distributed as hvd
        assert not hvd.is_initialized()
        child = os.fork()
        if child == 0:
            try:
                hvd.allreduce(pkg.ones(1))
            except ValueError as error:
                assert "has not been initialized" in str(error)
                hvd.init()
                assert hvd.allreduce(pkg.ones(1)).tolist() == [1.0]
                os._exit(3)
            os._exit(2)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """
    )
    assert (status, out) == (0, "3\n"), err


def test_fork_after_init():
    """The child is told so, the parent goes on."""
    status, out, err, _ = launch(2, "ending", "forks")
    assert status == 0 and out.count("child 3") == 2, (out, err)


def test_a_launcher_without_mpi_is_a_clear_error():
    status, _, err, _ = run_child(
        """
        import pkg.distributed as hvd
        try:
            hvd.init()
        except ImportError as error:
            assert "libmpi_abi" in str(error) and "pip install mpich" in str(error)
            assert "/nowhere/libmpi_abi.so" in str(error)
            raise SystemExit(3)
        """,
        PMI_SIZE="2", PMI_RANK="0", PKG_MPI_LIBRARY="/nowhere/libmpi_abi.so",
    )  # fmt: skip
    assert status == 3, err


def test_a_library_without_the_standard_abi_is_refused():
    status, _, err, _ = run_child(
        """
        import pkg.distributed as hvd
        try:
            hvd.init()
        except ImportError as error:
            assert "no MPI library with the standard ABI" in str(error), error
            raise SystemExit(3)
        """,
        PMI_SIZE="2", PMI_RANK="0", PKG_MPI_LIBRARY="libm.so.6",
    )  # fmt: skip
    assert status == 3, err


def test_one_process_needs_no_mpi():
    status, out, err, _ = run_child(
        """
        import pkg, pkg.distributed as hvd
        try:
            hvd.allreduce(pkg.ones(1))
        except ValueError as error:
            assert str(error) == "Horovod has not been initialized; use hvd.init()."
        hvd.init()
        hvd.init()
        assert (hvd.rank(), hvd.size()) == (0, 1)
        assert (hvd.local_size(), hvd.cross_size()) == (1, 1)
        assert not hvd.mpi_enabled() and hvd.is_homogeneous()
        x = pkg.ones(3, requires_grad=True)
        hvd.allreduce(x, prescale_factor=2.0).sum().backward()
        assert x.grad.tolist() == [2.0] * 3 and hvd.join() == 0
        assert "mpi" not in open("/proc/self/maps").read().lower().replace(
            "pkg/distributed/mpi", "")
        print("fine")
        """,
        PKG_MPI_LIBRARY="/nowhere",
    )  # fmt: skip
    assert (status, out) == (0, "fine\n"), err


def test_arguments_of_the_launcher_are_checked(tmp_path, capsys):
    program = tmp_path / "program.py"
    program.write_text("")
    for arguments, text in (
        (["-np", "0", program], "expected a positive integer, got 0"),
        ([program], "-np"),
        (["-np", "2"], "expected a program, got none"),
        (["-np", "2", "nothing.py"], "found no file 'nothing.py'"),
        (["-np", "2", "-H", "a:0", program], "expected HOST:SLOTS,..., got 'a:0'"),
        (["-np", "2", "-H", "a:1,a:1", program], "'a' twice"),
        (["-np", "4", "-H", "localhost:2", program], "expected at most 2 processes"),
        (["-np", "2", "--nope", program], "unrecognized arguments: --nope"),
    ):
        try:
            status = main(["launch", *map(str, arguments)])
        except SystemExit as stop:
            status = stop.code
        err = capsys.readouterr().err
        assert status == 2 and text in err, (arguments, err)
        assert err.startswith("pkg: error: ") and err.count("\n") == 1


def test_options_of_the_optimizer_are_checked():
    """When it is made, not in backward."""

    def made(optimizer=None, **options):
        optimizer = optimizer or optim.SGD([nn.Parameter(pkg.ones(1))], lr=1.0)
        return hvd.DistributedOptimizer(optimizer, **options)

    for kind, text, options in (
        (TypeError, "expected an optimizer", {"optimizer": 3}),
        (TypeError, "Compression.none", {"compression": "fp16"}),
        (ValueError, r"Average \(0\) or Sum \(1\), got 2", {"op": hvd.Adasum}),
        (ValueError, "positive number, got 0", {"gradient_predivide_factor": 0.0}),
        (ValueError, "got nan", {"gradient_predivide_factor": float("nan")}),
        (
            ValueError,
            "not supported with op",
            {"op": 1, "gradient_predivide_factor": 2},
        ),
    ):
        with pytest.raises(kind, match=text):
            made(**options)
    assert not hvd.nccl_built() and not hvd.gloo_enabled()
