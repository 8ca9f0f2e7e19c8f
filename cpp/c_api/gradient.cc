// SPDX-License-Identifier: Apache-2.0
// c_api/gradient.cc: gradients whose formula is a C callback.
#include <memory>

#include "c_api/boundary.h"

namespace pkg::c {
namespace {

// One for each tensor argument, those of lists too: all are saved, so all can be counted.
size_t count_inputs(const GradContext& context) {
  size_t n = 0;
  for (size_t i = 0; i < context.args.size(); ++i) {
    const auto* list = std::get_if<TensorList>(&context.args[i]);
    if (list) n += list->size();
    else n += context.op->schema.arguments[i].type == ArgType::Tensor;
  }
  return n;
}

}  // namespace

void give_gradient(const Operator& op, pkg_gradient_fn run, void* user_data,
                   const char* where) {
  const auto formula = [run, user_data](const GradContext& context) {
    const LentValues args(context.args);
    std::vector<pkg_tensor*> results(context.grads.size()), grads, found;
    for (const Tensor& grad : context.grads) grads.push_back(lend(grad));
    std::transform(context.results.begin(), context.results.end(), results.begin(), lend);
    found.resize(count_inputs(context));
    pkg_status status;
    run(user_data, args.data(), args.size(), results.data(), grads.data(),
        int32_t(grads.size()), found.data(), int32_t(found.size()), &status);
    TensorList list;
    for (pkg_tensor* handle : found) {
      list.push_back(Tensor(Ref<TensorImpl>::adopt(impl_of(handle))));
    }
    throw_reported(status);
    return list;
  };
  // Kept for as long as the op lives, unless the gradient is refused.
  using Held = std::remove_const_t<decltype(formula)>;
  auto held = std::make_unique<Held>(formula);
  const Gradient::Formula call([](const GradContext& g) { return g.object<Held>()(g); },
                               held.get());
  Dispatcher::get().set_gradient(const_cast<Operator&>(op), Saves::everything(), call,
                                 where);
  held.release();
}

}  // namespace pkg::c

using namespace pkg;
using namespace pkg::c;

extern "C" bool pkg_register_gradient(const pkg_op* op, pkg_gradient_fn gradient,
                                      void* user_data, pkg_status* status) {
  return guarded(status, false, [&] {
    const char* me = "pkg_register_gradient";
    const Operator& record = required(me, op);
    PKG_CHECK(gradient, TypeError, "[", me, "] expected a gradient callback, got NULL.");
    give_gradient(record, gradient, user_data, me);
    return true;
  });
}
