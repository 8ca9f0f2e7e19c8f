// SPDX-License-Identifier: Apache-2.0
// muladd.cc: ops in PyTorch's style: a * b + c with its gradient and its shapes in C++, the
// same without them, and one that writes to its argument.  Build it with one line:
//
//   g++ -std=c++20 -O2 -fPIC -shared muladd.cc -o muladd.so $(python -m pkg --cflags --ldflags)
//       -I$(python -m pkg --compat-include torch)
#include <torch/extension.h>

namespace muladd {

void check_alike(const at::Tensor& a, const at::Tensor& b) {
  TORCH_CHECK(a.sizes() == b.sizes(), "muladd takes tensors of one shape, got ", a.sizes(),
              " and ", b.sizes());
  TORCH_CHECK(a.scalar_type() == b.scalar_type());
  TORCH_CHECK(a.is_floating_point());
}

at::Tensor muladd_cpu(const at::Tensor& a, const at::Tensor& b, double c) {
  check_alike(a, b);
  const at::Tensor left = a.contiguous(), right = b.contiguous();
  at::Tensor result = at::empty(left.sizes(), left.options());
  AT_DISPATCH_FLOATING_TYPES(a.scalar_type(), "muladd", [&] {
    const scalar_t* x = left.const_data_ptr<scalar_t>();
    const scalar_t* y = right.const_data_ptr<scalar_t>();
    scalar_t* out = result.mutable_data_ptr<scalar_t>();
    at::parallel_for(0, result.numel(), 32768, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) out[i] = x[i] * y[i] + scalar_t(c);
    });
  });
  return result;
}

// The shapes alone, from tensors without data.
at::Tensor muladd_meta(const at::Tensor& a, const at::Tensor& b, double) {
  check_alike(a, b);
  return at::empty_like(a);
}

// With a gradient: recorded where an input requires grad, and computed below that.
class MulAdd : public torch::autograd::Function<MulAdd> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& a,
                            const at::Tensor& b, double c) {
    at::AutoDispatchBelowADInplaceOrView below;
    ctx->save_for_backward({a, b});
    static auto op = c10::Dispatcher::singleton()
                         .findSchemaOrThrow("muladd::muladd", "")
                         .typed<decltype(muladd_cpu)>();
    return op.call(a, b, c);
  }
  static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* ctx,
                                               torch::autograd::tensor_list grads) {
    const auto saved = ctx->get_saved_variables();
    at::Tensor grad_a, grad_b;
    if (ctx->needs_input_grad(0)) grad_a = grads[0] * saved[1];
    if (ctx->needs_input_grad(1)) grad_b = grads[0] * saved[0];
    return {grad_a, grad_b, at::Tensor()};
  }
};
at::Tensor muladd_autograd(const at::Tensor& a, const at::Tensor& b, double c) {
  return MulAdd::apply(a, b, c);
}

void muladd_out(const at::Tensor& a, const at::Tensor& b, double c, at::Tensor& out) {
  TORCH_CHECK(out.sizes() == a.sizes());
  out.copy_(muladd_cpu(a, b, c));
}

TORCH_LIBRARY(muladd, m) {
  m.def("muladd(Tensor a, Tensor b, float c) -> Tensor");
  m.def("plain(Tensor a, Tensor b, float c) -> Tensor");  // muladd.py has the rest of it
  m.def("out(Tensor a, Tensor b, float c, Tensor(a!) out) -> ()");
}
TORCH_LIBRARY_IMPL(muladd, CPU, m) {
  m.impl("muladd", &muladd_cpu);
  m.impl("plain", TORCH_FN(muladd_cpu));
  m.impl("out", &muladd_out);
}
TORCH_LIBRARY_IMPL(muladd, Meta, m) { m.impl("muladd", &muladd_meta); }
TORCH_LIBRARY_IMPL(muladd, Autograd, m) { m.impl("muladd", &muladd_autograd); }

}  // namespace muladd

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {}
