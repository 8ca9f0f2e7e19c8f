// SPDX-License-Identifier: Apache-2.0
// collectives/mpi_library.h: an MPI library with the standard ABI, opened while the program
// runs.  Nothing of pkg is linked to one.
#pragma once

#include <string>

#include "collectives/mpi_abi.h"

namespace pkg::collectives::mpi {

/// The functions of the library.
struct Library {
#define PKG_MPI_DECLARE(name, parameters) int(*name) parameters = nullptr;
  PKG_MPI_FUNCTIONS(PKG_MPI_DECLARE)
#undef PKG_MPI_DECLARE

  std::string path;

  /// CollectiveError with MPI's text unless it is MPI_SUCCESS.
  void check(const char* function, int code) const;
};

/// Opens the first of these that can be, separated by ':'; once in a process, as MPI can be
/// begun once.  ImportError that names each and what it lacks.
const Library& open_library(const std::string& paths);

}  // namespace pkg::collectives::mpi
