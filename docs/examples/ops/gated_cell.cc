// SPDX-License-Identifier: Apache-2.0
// gated_cell.cc: a recurrent cell with one gate, written with functions on tensors in
// PyTorch's style; its gradient is an op of its own.  Build it as muladd.cc.
//
//   gate = sigmoid([h, x] Wg' + bg), new = tanh([gate * h, x] Wn' + bn)
//   h'   = (1 - gate) * h + gate * new
#include <torch/extension.h>

#include <tuple>

// What backward needs besides the inputs is returned: h', gate, new, and what both products
// were taken of.
std::tuple<torch::Tensor, torch::Tensor, torch::Tensor, torch::Tensor, torch::Tensor>
cell_forward(torch::Tensor x, torch::Tensor h, torch::Tensor gate_weight,
             torch::Tensor gate_bias, torch::Tensor new_weight, torch::Tensor new_bias) {
  auto both = torch::cat({h, x}, /*dim=*/1);
  auto gate = torch::sigmoid(torch::addmm(gate_bias, both, gate_weight.t()));
  auto gated = torch::cat({gate * h, x}, /*dim=*/1);
  auto fresh = torch::tanh(torch::addmm(new_bias, gated, new_weight.transpose(0, 1)));
  return {(1 - gate) * h + gate * fresh, gate, fresh, both, gated};
}

std::tuple<torch::Tensor, torch::Tensor, torch::Tensor, torch::Tensor, torch::Tensor,
           torch::Tensor>
cell_backward(torch::Tensor grad, torch::Tensor h, torch::Tensor gate, torch::Tensor fresh,
              torch::Tensor both, torch::Tensor gated, torch::Tensor gate_weight,
              torch::Tensor new_weight) {
  const int64_t width = h.size(1);
  auto d_fresh = grad * gate * (1 - fresh.pow(2));
  auto d_gated = d_fresh.mm(new_weight);
  auto d_gate = grad * (fresh - h);
  d_gate += d_gated.slice(/*dim=*/1, 0, width) * h;
  d_gate *= gate * (1 - gate);
  auto d_both = d_gate.mm(gate_weight);
  auto d_h = grad * (1 - gate) + d_gated.slice(1, 0, width) * gate;
  d_h += d_both.slice(1, 0, width);
  auto d_x = d_gated.slice(1, width) + d_both.slice(1, width);
  return {d_x,
          d_h,
          d_gate.t().mm(both),
          d_gate.sum(/*dim=*/0, /*keepdim=*/true),
          d_fresh.t().mm(gated),
          d_fresh.sum(0, true)};
}

TORCH_LIBRARY(gated_cell, m) {
  m.def(
      "forward(Tensor x, Tensor h, Tensor gate_weight, Tensor gate_bias, Tensor new_weight, "
      "Tensor new_bias) -> (Tensor, Tensor, Tensor, Tensor, Tensor)");
  m.def("backward(Tensor grad, Tensor h, Tensor gate, Tensor fresh, Tensor both, Tensor "
        "gated, Tensor gate_weight, Tensor new_weight) -> (Tensor, Tensor, Tensor, Tensor, "
        "Tensor, Tensor)");
}
TORCH_LIBRARY_IMPL(gated_cell, CPU, m) {
  m.impl("forward", &cell_forward);
  m.impl("backward", &cell_backward);
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {}
