// SPDX-License-Identifier: Apache-2.0
// graph/same_call.cc: when arguments of calls are the same.
#include "graph/same_call.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace pkg::graph {
namespace {

bool same(const Scalar& a, const Scalar& b) {
  if (!(a == b)) return false;
  return !a.is_float() || std::signbit(a.to<double>()) == std::signbit(b.to<double>());
}

bool same(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](double x, double y) {
           return x == y && std::signbit(x) == std::signbit(y);
         });
}

// Numbers are made anew for each call.
bool same_number(const Tensor& a, const Tensor& b) {
  if (buffer_of(a) >= 0 || buffer_of(b) >= 0 || a.ndim() > 0 || b.ndim() > 0) return false;
  if (!a.impl()->wrapped_number || !b.impl()->wrapped_number) return false;
  if (a.dtype() != b.dtype()) return false;
  return std::memcmp(a.wait().data(), b.wait().data(), size_t(itemsize(a.dtype()))) == 0;
}

bool same(const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined()) return a.defined() == b.defined();
  if (a.is_same(b) || same_number(a, b)) return true;
  const TensorImpl &x = *a.impl(), &y = *b.impl();
  return x.storage == y.storage && x.dtype == y.dtype && x.sizes == y.sizes &&
         x.strides == y.strides && x.offset == y.offset &&
         x.wrapped_number == y.wrapped_number;
}

bool same(const Value& a, const Value& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&]<class T>(const T& x) {
        const T& y = std::get<T>(b);
        if constexpr (std::is_same_v<T, TensorList>) {
          return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                            [](const Tensor& s, const Tensor& t) { return same(s, t); });
        } else if constexpr (std::is_same_v<T, Tensor> || std::is_same_v<T, Scalar> ||
                             std::is_same_v<T, std::vector<double>>) {
          return same(x, y);
        } else {
          return x == y;
        }
      },
      a);
}

class Hash {
 public:
  void add(size_t value) { value_ = value_ * 1099511628211u ^ value; }
  void add(double number) { add(std::hash<double>{}(number)); }
  void add(const Shape& shape) {
    for (const int64_t size : shape) add(size_t(size));
  }
  void add(const Tensor& tensor) {
    if (!tensor.defined()) return add(size_t{1});
    add(size_t(buffer_of(tensor)) + 2);
    add(tensor.sizes());
    if (buffer_of(tensor) < 0 && tensor.impl()->wrapped_number) {
      return add(item(tensor).to<double>());
    }
    add(tensor.strides());
    add(size_t(tensor.offset()));
  }
  void add(const Value& value) {
    add(value.index());
    if (auto* tensor = std::get_if<Tensor>(&value)) add(*tensor);
    if (auto* shape = std::get_if<Shape>(&value)) add(*shape);
    if (auto* number = std::get_if<Scalar>(&value)) add(number->to<double>());
    if (auto* dtype = std::get_if<DType>(&value)) add(size_t(*dtype));
    if (auto* text = std::get_if<std::string>(&value)) add(std::hash<std::string>{}(*text));
    if (auto* list = std::get_if<TensorList>(&value)) {
      for (const Tensor& tensor : *list) add(tensor);
    }
  }
  size_t value() const { return value_; }

 private:
  size_t value_ = 0;
};

// Equal calls have equal ones; 0.0 and -0.0 may as well.
size_t hash_of(const Operator& op, std::span<const Value> args) {
  Hash hash;
  hash.add(std::hash<const void*>{}(&op));
  for (const Value& value : args) hash.add(value);
  return hash.value();
}

}  // namespace

int64_t CallTable::find(const std::vector<Step>& steps, const Operator& op,
                        std::span<const Value> args) const {
  const auto [begin, end] = steps_.equal_range(hash_of(op, args));
  for (auto entry = begin; entry != end; ++entry) {
    const Step& step = steps[entry->second];
    const auto alike = [](const Value& a, const Value& b) { return same(a, b); };
    if (step.op == &op &&
        std::equal(step.args.begin(), step.args.end(), args.begin(), args.end(), alike)) {
      return int64_t(entry->second);
    }
  }
  return -1;
}

void CallTable::add(const Step& step, size_t number) {
  steps_.emplace(hash_of(*step.op, step.args), number);
}

}  // namespace pkg::graph
