// SPDX-License-Identifier: Apache-2.0
// c_api/autograd.cc: gradients for C.
#include "autograd/engine.h"
#include "autograd/leaf.h"
#include "c_api/boundary.h"

namespace pkg::c {
namespace {

TensorList required_list(const char* function, const char* parameter,
                         pkg_tensor* const* handles, size_t n) {
  PKG_CHECK(handles || n == 0, TypeError, "[", function, "] expected ", n,
            " tensors, got NULL (argument=", parameter, ").");
  TensorList list;
  for (size_t i = 0; i < n; ++i) {
    list.push_back(required(function, parameter, handles[i]));
  }
  return list;
}

// NULL, as array or as entry, is an undefined tensor.
TensorList optional_list(pkg_tensor* const* handles, size_t n) {
  TensorList list;
  for (size_t i = 0; i < n; ++i) list.push_back(borrow(handles ? handles[i] : nullptr));
  return list;
}

}  // namespace
}  // namespace pkg::c

using namespace pkg;
using namespace pkg::c;

extern "C" {

bool pkg_tensor_requires_grad(const pkg_tensor* tensor) {
  return tensor && borrow(tensor).requires_grad();
}

bool pkg_tensor_set_requires_grad(pkg_tensor* tensor, bool wanted, pkg_status* status) {
  return guarded(status, false, [&] {
    set_requires_grad(required("pkg_tensor_set_requires_grad", "tensor", tensor), wanted);
    return true;
  });
}

pkg_tensor* pkg_tensor_grad(const pkg_tensor* tensor, pkg_status* status) {
  return guarded<pkg_tensor*>(status, nullptr, [&] {
    return own(required("pkg_tensor_grad", "tensor", tensor).grad());
  });
}

bool pkg_tensor_set_grad(pkg_tensor* tensor, pkg_tensor* grad, pkg_status* status) {
  return guarded(status, false, [&] {
    set_grad(required("pkg_tensor_set_grad", "tensor", tensor), borrow(grad));
    return true;
  });
}

bool pkg_backward(pkg_tensor* const* outputs, pkg_tensor* const* grad_outputs,
                  size_t n_outputs, bool retain_graph, bool create_graph,
                  pkg_status* status) {
  return guarded(status, false, [&] {
    backward(required_list("pkg_backward", "outputs", outputs, n_outputs),
             optional_list(grad_outputs, n_outputs), retain_graph, create_graph);
    return true;
  });
}

bool pkg_grad(pkg_tensor* const* outputs, pkg_tensor* const* grad_outputs, size_t n_outputs,
              pkg_tensor* const* inputs, size_t n_inputs, bool retain_graph,
              bool create_graph, bool allow_unused, pkg_tensor** grads,
              pkg_status* status) {
  return guarded(status, false, [&] {
    const char* me = "pkg_grad";
    const TensorList wanted = required_list(me, "inputs", inputs, n_inputs);
    PKG_CHECK(grads || n_inputs == 0, TypeError, "[", me, "] expected room for ", n_inputs,
              " gradients, got NULL (argument=grads).");
    TensorList found = grad(required_list(me, "outputs", outputs, n_outputs), wanted,
                            optional_list(grad_outputs, n_outputs), retain_graph,
                            create_graph, allow_unused);
    for (size_t i = 0; i < n_inputs; ++i) grads[i] = own(std::move(found[i]));
    return true;
  });
}

bool pkg_grad_enabled(void) { return grad_enabled(); }
bool pkg_set_grad_enabled(bool enabled) { return set_grad_enabled(enabled); }

}  // extern "C"
