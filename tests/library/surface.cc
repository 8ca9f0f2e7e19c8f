// SPDX-License-Identifier: Apache-2.0
// tests/library/surface.cc: what PyTorch's style has besides the examples: every kind of
// parameter and result, aliases of keys, both ways of a typed call, what a context keeps.
#include <ATen/Operators.h>
#include <Python.h>
#include <torch/all.h>
#include <torch/library.h>

#include <cstring>

extern "C" PyObject* PyInit__C(void) { return nullptr; }  // never called: it is no module

namespace surface {

std::string words(const at::Tensor& x, const std::optional<at::Tensor>& y,
                  at::TensorList list, const at::Scalar& s, int64_t n, double f, bool b,
                  at::IntArrayRef sizes, const std::string& text, at::ScalarType type,
                  std::optional<int64_t> maybe, std::optional<at::IntArrayRef> dims,
                  const std::vector<double>& floats,
                  const c10::optional<at::Scalar>& more) {
  std::ostringstream out;
  out << x.sizes() << ' ' << y.has_value() << ' ' << list.size() << ' ' << s << ' ' << n
      << ' ' << f << ' ' << b << ' ' << sizes << ' ' << text << ' ' << type << ' '
      << maybe.value_or(-1) << ' ' << (dims ? int64_t(dims->size()) : -1) << ' '
      << floats.size() << ' ' << more.has_value();
  return out.str();
}
// Ops return no text: it comes as its characters.
at::Tensor every_kind(const at::Tensor& x, const std::optional<at::Tensor>& y,
                      at::TensorList list, const at::Scalar& s, int64_t n, double f, bool b,
                      at::IntArrayRef sizes, const std::string& text, at::ScalarType type,
                      std::optional<int64_t> maybe, std::optional<at::IntArrayRef> dims,
                      const std::vector<double>& floats,
                      const c10::optional<at::Scalar>& more) {
  const std::string line = words(x, y, list, s, n, f, b, sizes, text, type, maybe, dims,
                                 floats, more);
  at::Tensor result = at::empty({int64_t(line.size())}, at::kByte);
  std::copy(line.begin(), line.end(), result.data_ptr<uint8_t>());
  return result;
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor,
           at::Tensor>
seven(at::Tensor x) {
  return {x, x + 1, x + 2, x + 3, x + 4, x + 5, x + 6};
}
std::vector<at::Tensor> parts(const at::Tensor& x, int64_t n) { return x.chunk(n); }
at::Tensor& increase(at::Tensor& x, const at::Scalar& by) {
  x.add_(by);
  return x;
}
// Results of several kinds.
std::tuple<at::Tensor, at::Tensor, int64_t, double> spread(const at::Tensor& x) {
  return {x.var(), x.std({0}, false), x.numel(), 0.5};
}
// Methods that change a tensor, or put parts of one together.
at::Tensor methods(const at::Tensor& x, const at::Tensor& index) {
  at::Tensor y = x.clone();
  y.clamp_(-1, 1).addcmul_(x, x, 0.5).scatter_add_(1, index, torch::ones_like(x));
  return y.index_add(0, torch::tensor({0}), x.flip({1}).slice(0, 0, 1)).clamp_min(0);
}
std::vector<at::Tensor> ordered(const at::Tensor& x) {
  const auto [sorted, places] = x.sort(-1, true);
  return {sorted,
          places,
          std::get<0>(torch::topk(x, 1)),
          x.prod(),
          x.norm(1, {0}),
          torch::logsumexp(x, {0}),
          x.scatter(0, places, 7)};
}
// A kernel for every key, whatever the tensors hold.
at::Tensor counted(const at::Tensor& ids, int64_t n) {
  at::Tensor result = torch::zeros({n}, torch::dtype(torch::kInt64));
  const auto from = ids.accessor<int64_t, 1>();
  for (int64_t i = 0; i < from.size(0); ++i) ++result.data_ptr<int64_t>()[from[i]];
  return result;
}
at::Tensor sum_of_squares(const at::Tensor& x) {
  at::Tensor result = torch::empty({}, x.options());
  const at::Tensor flat = x.contiguous();
  AT_DISPATCH_ALL_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "squares", [&] {
    const scalar_t* in = flat.data_ptr<scalar_t>();
    scalar_t sum = 0;
    for (int64_t i = 0; i < flat.numel(); ++i) sum += in[i] * in[i];
    *result.data_ptr<scalar_t>() = at::Scalar(sum).to<scalar_t>();
  });
  return result;
}
// The reference that a typed call returns is to the argument that the op writes to.
bool increase_by_name(at::Tensor& x) {
  static auto op = c10::Dispatcher::singleton()
                       .findSchemaOrThrow("surface::increase", "")
                       .typed<const at::Tensor&(const at::Tensor&, const at::Scalar&)>();
  return &op.call(x, 2) == &x;
}
// As torch.tensor() in Python; at::tensor keeps the type.
std::vector<at::Tensor> literals() {
  return {torch::tensor({1, 2}), torch::tensor({1.5}),
          torch::tensor(2.5f),   torch::tensor(std::vector<uint8_t>{3}),
          torch::tensor({true}), torch::tensor({1, 2}, torch::kFloat64),
          at::tensor({1, 2}),    at::tensor({1.5})};
}
// Through a pointer without a type.
void clear(at::Tensor& x) { std::memset(x.data_ptr(), 0, x.nbytes()); }
// Of a tensor beside the arguments, which may not be ready.
at::Tensor& held() {
  static auto& tensor = *new at::Tensor();
  return tensor;
}
void hold(const std::optional<at::Tensor>& x) { held() = x.value_or(at::Tensor()); }
at::Tensor add_held(const at::Tensor& x) { return x + held(); }
at::Tensor add_held_meta(const at::Tensor& x) { return at::empty_like(x); }

int64_t count(const at::Tensor& x) { return x.numel(); }

// Of other ops, so its gradient is theirs.
at::Tensor composed(const at::Tensor& x) { return (2 * x).tanh() - x / 3; }

// Autograd takes and passes on the keys of the call.
at::Tensor twice(const at::Tensor& x) { return x * 2; }
at::Tensor twice_above(c10::DispatchKeySet keys, const at::Tensor& x) {
  static auto op = torch::Dispatcher::singleton()
                       .findSchemaOrThrow("surface::twice", "")
                       .typed<at::Tensor(const at::Tensor&)>();
  return op.redispatch(keys & c10::after_autograd_keyset, x) + 100;
}

// By the names of the core's ops, whose kernels may be of other types.
at::Tensor by_name(const at::Tensor& x) {
  static auto add =
      c10::Dispatcher::singleton()
          .findSchemaOrThrow("aten::add", "")
          .typed<at::Tensor(const at::Tensor&, const at::Tensor&, const at::Scalar&)>();
  static auto stack = c10::Dispatcher::singleton()
                          .findSchemaOrThrow("pkg::stack", "")
                          .typed<at::Tensor(at::TensorList, int64_t)>();
  const at::Tensor both[] = {add.call(x, x, 3), x};
  return stack.call(both, 0);
}
int64_t lookup(int64_t which) {
  auto& dispatcher = c10::Dispatcher::singleton();
  if (which == 0) dispatcher.findSchemaOrThrow("surface::none", "");
  if (which == 1) dispatcher.findSchemaOrThrow("pkg::max", "wrong");
  if (which == 2) {
    dispatcher.findSchemaOrThrow("surface::twice", "").typed<at::Tensor(double)>();
  }
  if (which == 4) dispatcher.findSchemaOrThrow("aten::max", "wrong");
  if (which == 5) {
    dispatcher.findSchemaOrThrow("surface::twice", "")
        .typed<const at::Tensor&(const at::Tensor&)>();
  }
  return dispatcher.findSchema("surface::twice").has_value();
}

// What a context keeps: a list of inputs, an output, numbers; a gradient for one input only.
class Weighted : public torch::autograd::Function<Weighted> {
 public:
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* ctx,
                                                torch::autograd::variable_list xs,
                                                double weight, at::Tensor unused) {
    at::AutoDispatchBelowADInplaceOrView guard;
    ctx->saved_data["weight"] = weight;
    ctx->saved_data["n"] = int64_t(xs.size());
    const at::Tensor product = xs[0] * xs[1];
    ctx->save_for_backward(
        {xs[0], xs[1], product, unused.defined() ? unused : at::Tensor()});
    return {product * weight, xs[0].detach()};
  }
  static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* ctx,
                                               torch::autograd::tensor_list grads) {
    const auto saved = ctx->get_saved_variables();
    TORCH_CHECK(ctx->saved_data["n"].toInt() == 2 && saved[2].defined());
    const double weight = ctx->saved_data["weight"].toDouble();
    // A gradient for each argument, a list's tensors one by one.
    return {grads[0] * saved[1] * weight + grads[1], grads[0] * saved[0] * weight,
            at::Tensor(), at::Tensor()};
  }
};
std::vector<at::Tensor> weighted(at::TensorList xs, double weight) {
  return Weighted::apply(xs.vec(), weight, at::Tensor());
}

// Gives a gradient for a number, too.
class TooGenerous : public torch::autograd::Function<TooGenerous> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext*, at::Tensor x, double by) {
    return x * by;
  }
  static torch::autograd::tensor_list backward(torch::autograd::AutogradContext*,
                                               torch::autograd::tensor_list grads) {
    return {grads[0], grads[0]};
  }
};
at::Tensor too_generous(const at::Tensor& x, double by) {
  return TooGenerous::apply(x, by);
}

at::Tensor fails(const at::Tensor& x, int64_t how) {
  TORCH_CHECK(how != 0);
  TORCH_CHECK_VALUE(how != 1, "a value of ", how);
  TORCH_CHECK_INDEX(how != 2, "an index of ", how);
  TORCH_CHECK_TYPE(how != 3, "a type");
  TORCH_CHECK_NOT_IMPLEMENTED(how != 4, "not here");
  TORCH_INTERNAL_ASSERT(how != 5, "this cannot be");
  if (how == 6) throw std::invalid_argument("of the standard library");
  if (how == 7) AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "fails", [] {});
  if (how == 8) x.to(at::kCUDA);
  return x.clone();
}
at::Tensor elements(const at::Tensor& x) {
  at::Tensor result = at::zeros_like(x);
  AT_DISPATCH_ALL_TYPES_AND(at::kBool, x.scalar_type(), "elements", [&] {
    const auto from = x.accessor<scalar_t, 2>();
    const auto to = result.accessor<scalar_t, 2>();
    for (int64_t i = 0; i < from.size(0); ++i) {
      for (int64_t k = 0; k < from.size(1); ++k) to[i][k] = from[i][from.size(1) - 1 - k];
    }
  });
  return result;
}

TORCH_LIBRARY(surface, m) {
  m.def(
      "every_kind(Tensor x, Tensor? y, Tensor[] list, Scalar s, int n, float f, bool b, "
      "int[] sizes, str text, ScalarType type, int? maybe=None, int[]? dims=None, float[] "
      "floats=[], Scalar? more=None) -> Tensor");
  m.def("seven(Tensor x) -> (Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)");
  m.def(TORCH_SELECTIVE_SCHEMA("parts(Tensor x, int n) -> Tensor[]"));
  m.def("increase(Tensor(a!) x, Scalar by=1) -> Tensor(a!)");
  m.def("count", count);  // the schema follows from the function
  m.def("composed(Tensor x) -> Tensor", composed);
  m.def("surface::twice(Tensor x) -> Tensor", {at::Tag::pt2_compliant_tag});
  m.def("by_name(Tensor x) -> Tensor",
        torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd, TORCH_FN(by_name)));
  m.def("lookup(int which) -> int");
  m.def("increase_by_name(Tensor(a!) x) -> bool", increase_by_name);
  m.def("literals() -> Tensor[]", literals);
  m.def("clear(Tensor(a!) x) -> ()");
  m.def("hold(Tensor? x) -> ()", hold);
  m.def("add_held(Tensor x) -> Tensor");
  m.def("weighted(Tensor[] xs, float weight) -> Tensor[]");
  m.def("too_generous(Tensor x, float by) -> Tensor", too_generous);
  m.def("fails(Tensor x, int how) -> Tensor");
  m.def("elements(Tensor x) -> Tensor");
  m.def("spread(Tensor x) -> (Tensor var, Tensor std, int n, float half)");
  m.def("methods(Tensor x, Tensor index) -> Tensor");
  m.def("ordered(Tensor x) -> Tensor[]");
  m.def("counted", &counted);
  m.def("sum_of_squares(Tensor x) -> Tensor");
}
TORCH_LIBRARY_FRAGMENT(surface, m) { m.def("more(Tensor x) -> Tensor"); }

TORCH_LIBRARY_IMPL(surface, CPU, m) {
  m.impl("every_kind", every_kind);
  m.impl("seven", &seven);
  m.impl("parts", &parts);
  m.impl("increase", &increase);
  m.impl(TORCH_SELECTIVE_NAME("twice"), TORCH_FN(twice));
  m.impl("lookup", lookup);
  m.impl("clear", clear);
  m.impl("add_held", add_held);
  m.impl("fails", fails);
  m.impl("elements", elements);
  m.impl("spread", spread);
  m.impl("methods", methods);
  m.impl("ordered", ordered);
  m.impl("sum_of_squares", sum_of_squares);
  m.impl("more", [](const at::Tensor& x) { return x.neg(); });
}
TORCH_LIBRARY_IMPL(surface, Meta, m) { m.impl("add_held", add_held_meta); }
// A second block of the same key, and others.
TORCH_LIBRARY_IMPL(surface, CPU, m) { m.impl("weighted", &weighted); }
TORCH_LIBRARY_IMPL(surface, Autograd, m) {
  m.impl("twice", twice_above);
  m.impl("weighted", &weighted);
}
TORCH_LIBRARY_IMPL(surface, CUDA, m) { m.impl("twice", twice); }  // never called here

}  // namespace surface
