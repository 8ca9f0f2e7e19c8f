# SPDX-License-Identifier: Apache-2.0
"""cpp/collectives/mpi_abi.h says what the header of an installed MPI says."""

import os
import subprocess
import sysconfig

import pytest

import pkg.sysconfig

HEADER = os.path.join(sysconfig.get_path("data"), "include", "mpi_abi.h")

# A parameter is passed as the other is: both are pointers, or numbers of one size.
PROGRAM = """
#include <mpi_abi.h>
#include <cstdio>
#include <cstddef>
#include <type_traits>
#include "collectives/mpi_library.h"
using namespace pkg::collectives;
template <class A, class B>
constexpr bool alike = sizeof(A) == sizeof(B) &&
    std::is_pointer_v<A> == std::is_pointer_v<B>;
template <class F, class G> struct Same : std::false_type {};
template <class... A, class... B>
  requires(sizeof...(A) == sizeof...(B))
struct Same<int (*)(A...), int (*)(B...)>
    : std::bool_constant<(alike<A, B> && ...)> {};
#define CHECK(name, parameters) \\
  static_assert(Same<decltype(&MPI_##name), \\
                     decltype(mpi::Library::name)>::value, #name);
PKG_MPI_FUNCTIONS(CHECK)
static_assert(sizeof(MPI_Status) == sizeof(mpi::Status));
static_assert(offsetof(MPI_Status, MPI_SOURCE) == offsetof(mpi::Status, source));
static_assert(offsetof(MPI_Status, MPI_TAG) == offsetof(mpi::Status, tag));
static_assert(sizeof(MPI_Count) == sizeof(mpi::Count));
static_assert(sizeof(MPI_Aint) == sizeof(mpi::Aint));
int wrong = 0;
template <class T> void equal(const char* name, T theirs, uintptr_t ours) {
  if ((uintptr_t)theirs != ours) wrong += std::printf("%s\\n", name);
}
int main() {
  equal("COMM_NULL", MPI_COMM_NULL, mpi::kCommNull);
  equal("COMM_WORLD", MPI_COMM_WORLD, mpi::kCommWorld);
  equal("ERRORS_RETURN", MPI_ERRORS_RETURN, mpi::kErrorsReturn);
  equal("REQUEST_NULL", MPI_REQUEST_NULL, mpi::kRequestNull);
  equal("IN_PLACE", MPI_IN_PLACE, mpi::kInPlace);
  equal("BYTE", MPI_BYTE, mpi::kByte);
  equal("SUCCESS", (int)MPI_SUCCESS, mpi::kSuccess);
  equal("ANY_SOURCE", (int)MPI_ANY_SOURCE, (uintptr_t)mpi::kAnySource);
  equal("THREAD_FUNNELED", (int)MPI_THREAD_FUNNELED, mpi::kThreadFunneled);
  equal("MAX_ERROR_STRING", MPI_MAX_ERROR_STRING, mpi::kMaxErrorString);
  equal("MAX_LIBRARY_VERSION_STRING", MPI_MAX_LIBRARY_VERSION_STRING,
        mpi::kMaxLibraryVersionString);
  equal("ABI_VERSION", MPI_ABI_VERSION, mpi::kAbiVersion);
  return wrong;
}
"""


def test_types_constants_and_functions_are_those_of_the_header(tmp_path):
    if not os.path.exists(HEADER):
        pytest.skip("no mpi_abi.h beside Python: pip install mpich")
    source, program = tmp_path / "abi.cc", tmp_path / "abi"
    source.write_text(PROGRAM)
    command = ["g++", "-std=c++20", f"-I{os.path.dirname(HEADER)}"]
    command += [f"-I{pkg.sysconfig.get_include()}", str(source), "-o", str(program)]
    subprocess.run(command, check=True)
    done = subprocess.run([str(program)], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")
