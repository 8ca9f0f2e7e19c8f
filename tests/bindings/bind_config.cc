// SPDX-License-Identifier: Apache-2.0
// tests/bindings/bind_config.cc: facts about the build, the processor and memory.
#include "base/build_info.h"
#include "bind.h"
#include "c_api/library.h"
#include "tensor/allocator.h"
#include "tensor/settings.h"

namespace pkg::pybind {

void bind_config(py::module_& m) {
  m.def("version", &version, "version()\n--\n\nVersion of the core.");
  m.def("compiler_version", &compiler_version,
        "compiler_version()\n--\n\nThe compiler and its version.");
  m.def("build_flags", &build_flags, "build_flags()\n--\n\nCompile flags of the core.");
  m.def(
      "cxx11_abi", &cxx11_abi,
      "cxx11_abi()\n--\n\nValue of _GLIBCXX_USE_CXX11_ABI, which C++ extensions must share.");
  m.def("load_library", &c::load_library, py::arg("path"),
        "load_library(path)\n--\n\n"
        "Opens a shared library of ops; see pkg.ops.load_library.  Returns its identity.");
  m.def(
      "library_ops", &c::library_ops, py::arg("identity"), py::pos_only(),
      "library_ops(identity, /)\n--\n\n"
      "Names of the ops that the library of an identity declared, 'mine::squash', sorted.");
  m.def("empty_cache", &empty_cache,
        "empty_cache()\n--\n\nReturns the allocator's cached blocks to the system.");
  m.def("manual_seed", &settings::manual_seed, py::arg("seed"),
        "manual_seed(seed)\n--\n\nRestarts the default random stream.");
  m.def("initial_seed", &settings::initial_seed,
        "initial_seed()\n--\n\nSeed of the default random stream.");
  m.def(
      "random_position", &settings::random_position,
      "random_position()\n--\n\nHow many counter values of the random stream are used up.");
  m.def("set_random_state", &settings::set_random_state, py::arg("seed"),
        py::arg("position"),
        "set_random_state(seed, position)\n--\n\n"
        "Puts the default random stream to a place it had before.");
  m.def("set_default_dtype", &settings::set_default_dtype, py::arg("name"),
        "set_default_dtype(name)\n--\n\n"
        "Makes a floating type the dtype of Python's floats and of new tensors.");
  m.def("set_isa", &settings::set_isa, py::arg("name"),
        "set_isa(name)\n--\n\n"
        "Forces an instruction set for the whole process; ValueError above what the CPU "
        "has.");
  m.def("isa_name", &settings::isa_name,
        "isa_name()\n--\n\nInstruction set in use: baseline, v3 or v4.");
  m.def("system_allocations", &settings::system_allocations,
        "system_allocations()\n--\n\nCalls of the allocator to the system since start.");
  m.def("bytes_in_use", &settings::bytes_in_use,
        "bytes_in_use()\n--\n\nBytes handed out now.");
  m.def("peak_bytes", &settings::peak_bytes,
        "peak_bytes()\n--\n\nHighest number of bytes handed out so far.");
  m.def("live_tensors", &settings::live_tensors,
        "live_tensors()\n--\n\nTensor objects alive, for leak tests.");
  m.def("live_events", &settings::live_events,
        "live_events()\n--\n\nTasks and other events alive, for leak tests.");
  m.def("live_streams", &settings::live_streams,
        "live_streams()\n--\n\nStreams alive, for leak tests.");
}

}  // namespace pkg::pybind
