// SPDX-License-Identifier: Apache-2.0
// tests/bindings/bind_config.cc: facts about the build, the processor and memory.
#include "base/build_info.h"
#include "base/isa.h"
#include "bind.h"
#include "tensor/allocator.h"
#include "tensor/generator.h"

namespace pkg::pybind {

void bind_config(py::module_& m) {
  m.def("version", &version);
  m.def("compiler_version", &compiler_version);
  m.def("build_flags", &build_flags);
  m.def("cxx11_abi", &cxx11_abi);
  m.def("empty_cache", &empty_cache);
  m.def("manual_seed", [](int64_t seed) { manual_seed(uint64_t(seed)); }, py::arg("seed"),
        "Restarts the default random stream.");
  m.def("isa_name", [] { return name_of(isa()); },
        "Instruction set in use: baseline, v3 or v4.");
  m.def("system_allocations", [] { return allocator_stats().system_allocations; },
        "Calls of the allocator to the system since start.");
  m.def("bytes_in_use", [] { return allocator_stats().bytes_in_use; },
        "Bytes handed out now.");
  m.def("live_tensors", &TensorImpl::live_count,
        "Tensor objects alive, for leak tests.");
}

}  // namespace pkg::pybind
