// SPDX-License-Identifier: Apache-2.0
// ops/linalg/einsum.cc: Einstein summation, read left to right as batched matrix products.
#include <array>

#include "ops/loops.h"

namespace pkg::ops {
namespace {

// A subscript: letters count from 0, the dimensions that "..." stands for from kDots.
using Labels = std::vector<int>;
constexpr int kDots = 52, kMaxLabels = kDots + 64;

int letter(char c) {
  if (c >= 'a' && c <= 'z') return c - 'a';
  if (c >= 'A' && c <= 'Z') return c - 'A' + 26;
  detail::raise<RuntimeError>("[einsum] invalid subscript '", c,
                              "': subscripts must be in [a-zA-Z]");
}

struct Equation {
  std::vector<std::string> inputs;
  std::optional<std::string> output;
};

Equation parse(const std::string& text) {
  std::string plain;
  for (char c : text) {
    if (c != ' ') plain += c;
  }
  Equation equation;
  const size_t arrow = plain.find("->");
  if (arrow != plain.npos) {
    equation.output = plain.substr(arrow + 2);
    plain.resize(arrow);
  }
  size_t start = 0;
  while (true) {
    const size_t comma = plain.find(',', start);
    equation.inputs.push_back(plain.substr(start, comma - start));
    if (comma == plain.npos) return equation;
    start = comma + 1;
  }
}

// Labels of one subscript; "..." becomes the last `dots` of the dotted dimensions.
Labels labels_of(const std::string& subscript, int64_t dots, int64_t most_dots) {
  Labels labels;
  for (size_t i = 0; i < subscript.size(); ++i) {
    if (subscript[i] != '.') {
      labels.push_back(letter(subscript[i]));
      continue;
    }
    PKG_CHECK(subscript.compare(i, 3, "...") == 0 && dots >= 0, RuntimeError,
              "[einsum] found '.' that is not part of one ellipsis in '", subscript, "'");
    for (int64_t d = most_dots - dots; d < most_dots; ++d) labels.push_back(kDots + int(d));
    i += 2;
    PKG_CHECK(subscript.find("...", i + 1) == subscript.npos, RuntimeError,
              "[einsum] more than one ellipsis in '", subscript, "'");
  }
  return labels;
}

// A tensor whose dimensions are named, each name once.
struct Operand {
  Tensor tensor;
  Labels labels;

  int64_t find(int label) const {
    const auto at = std::find(labels.begin(), labels.end(), label);
    return at == labels.end() ? -1 : at - labels.begin();
  }
};

// A repeated label takes the diagonal of its dimensions.
Operand with_unique_labels(Operand x) {
  for (size_t i = 0; i < x.labels.size(); ++i) {
    for (size_t j = i + 1; j < x.labels.size();) {
      if (x.labels[j] != x.labels[i]) {
        ++j;
        continue;
      }
      PKG_CHECK(x.tensor.size(int64_t(i)) == x.tensor.size(int64_t(j)), RuntimeError,
                "[einsum] a repeated subscript has sizes ", x.tensor.size(int64_t(i)),
                " and ", x.tensor.size(int64_t(j)));
      x.tensor = diagonal(x.tensor, 0, int64_t(i), int64_t(j));
      const int label = x.labels[i];  // the diagonal is the last dimension now
      x.labels.erase(x.labels.begin() + int64_t(j));
      x.labels.erase(x.labels.begin() + int64_t(i));
      x.labels.push_back(label);
      i = 0;
      j = 1;
    }
  }
  return x;
}

// Dimensions in the order of `labels`; a missing one has size 1.
Tensor arranged(const Operand& x, const Labels& labels) {
  Shape order;
  for (int label : labels) {
    if (x.find(label) >= 0) order.push_back(x.find(label));
  }
  Tensor t = order.empty() ? x.tensor : permute(x.tensor, order);
  for (size_t d = 0; d < labels.size(); ++d) {
    if (x.find(labels[d]) < 0) t = unsqueeze(t, int64_t(d));
  }
  return t;
}

// Sums over the labels that `keep` does not want; integers in int64, as by sum().
template <class Keep>
Operand summed(const Operand& x, Keep keep) {
  Operand result{x.tensor, {}};
  Shape gone;
  for (size_t d = 0; d < x.labels.size(); ++d) {
    if (keep(x.labels[d])) result.labels.push_back(x.labels[d]);
    else gone.push_back(int64_t(d));
  }
  if (gone.empty()) return result;
  result.tensor = sum(x.tensor, std::optional<Shape>(gone), false, std::optional<DType>());
  return result;
}

// A dimension of size 1 beside a longer one of the same label broadcasts: drop it.
Operand without_ones(const Operand& x, const Operand& other) {
  return summed(x, [&](int label) {
    const int64_t d = x.find(label), o = other.find(label);
    return !(o >= 0 && x.tensor.size(d) == 1 && other.tensor.size(o) != 1);
  });
}

// The product of two, keeping what `needed` marks.
Operand contract(Operand a, Operand b, const std::array<bool, kMaxLabels>& needed) {
  const Operand a_before = a;
  a = without_ones(a, b);
  b = without_ones(b, a_before);
  a = summed(a, [&](int l) { return needed[size_t(l)] || b.find(l) >= 0; });
  b = summed(b, [&](int l) { return needed[size_t(l)] || a.find(l) >= 0; });
  Labels batch, shared, left, right;
  for (int label : a.labels) {
    if (b.find(label) < 0) left.push_back(label);
    else (needed[size_t(label)] ? batch : shared).push_back(label);
  }
  for (int label : b.labels) {
    if (a.find(label) < 0) right.push_back(label);
  }
  Labels a_order = batch, b_order = batch;
  a_order.insert(a_order.end(), left.begin(), left.end());
  a_order.insert(a_order.end(), shared.begin(), shared.end());
  b_order.insert(b_order.end(), shared.begin(), shared.end());
  b_order.insert(b_order.end(), right.begin(), right.end());
  Shape sizes;
  const auto extent = [&](const Operand& x, const Labels& labels, bool in_result) {
    int64_t count = 1;
    for (int label : labels) {
      const int64_t size = x.tensor.size(x.find(label));
      if (in_result) sizes.push_back(size);
      count *= size;
    }
    return count;
  };
  const int64_t n_batch = extent(a, batch, true), n_left = extent(a, left, true);
  const int64_t n_shared = extent(a, shared, false), n_right = extent(b, right, true);
  const DType dtype = promote(a.tensor.dtype(), b.tensor.dtype());
  const auto factor = [&](const Operand& of, const Labels& order, const Shape& shape) {
    const Tensor t = reshape(arranged(of, order), shape);
    return t.dtype() == dtype ? t : to_dtype(t, dtype);
  };
  const Tensor x = factor(a, a_order, Shape{n_batch, n_left, n_shared});
  const Tensor y = factor(b, b_order, Shape{n_batch, n_shared, n_right});
  Operand result{reshape(bmm(x, y), sizes), batch};
  result.labels.insert(result.labels.end(), left.begin(), left.end());
  result.labels.insert(result.labels.end(), right.begin(), right.end());
  return result;
}

// Without "->": the dotted dimensions, then letters that occur once, in their order.
Labels implied_output(const std::vector<Operand>& given, int64_t most_dots) {
  std::array<int, kMaxLabels> count{};
  for (const Operand& x : given) {
    for (int label : x.labels) ++count[size_t(label)];
  }
  Labels output;
  for (int64_t d = 0; d < most_dots; ++d) output.push_back(kDots + int(d));
  for (int c = 0; c < 26; ++c) {  // capitals come first in this order
    if (count[size_t(26 + c)] == 1) output.push_back(26 + c);
  }
  for (int c = 0; c < 26; ++c) {
    if (count[size_t(c)] == 1) output.push_back(c);
  }
  return output;
}

Tensor einsum(const std::string& text, const TensorList& tensors) {
  // Asked here, as a pair with an empty one needs no product that would refuse them.
  for (const Tensor& x : tensors) {
    PKG_CHECK(tensors.size() < 2 || x.dtype() != DType::Bool, NotImplementedError,
              "[einsum] expected integer or floating operands of a product, got bool.");
  }
  const Equation equation = parse(text);
  PKG_CHECK(equation.inputs.size() == tensors.size(), RuntimeError, "[einsum] expected ",
            equation.inputs.size(), " operands for '", text, "', got ", tensors.size());
  const auto dots_in = [&](size_t i) {
    const std::string& subscript = equation.inputs[i];
    if (subscript.find('.') == subscript.npos) return int64_t(-1);
    return tensors[i].ndim() - (int64_t(subscript.size()) - 3);
  };
  int64_t most_dots = 0;
  for (size_t i = 0; i < tensors.size(); ++i) most_dots = std::max(most_dots, dots_in(i));
  PKG_CHECK(most_dots <= kMaxLabels - kDots, RuntimeError,
            "[einsum] too many dimensions in an ellipsis: ", most_dots);
  std::vector<Operand> given;
  std::array<int64_t, kMaxLabels> sizes;
  sizes.fill(1);
  for (size_t i = 0; i < tensors.size(); ++i) {
    Operand x{tensors[i], labels_of(equation.inputs[i], dots_in(i), most_dots)};
    PKG_CHECK(int64_t(x.labels.size()) == x.tensor.ndim(), RuntimeError,
              "[einsum] the subscript '", equation.inputs[i], "' does not match the ",
              x.tensor.ndim(), " dimensions of operand ", i);
    for (size_t d = 0; d < x.labels.size(); ++d) {
      int64_t& size = sizes[size_t(x.labels[d])];
      const int64_t own = x.tensor.size(int64_t(d));
      PKG_CHECK(own == size || own == 1 || size == 1, RuntimeError, "[einsum] operand ", i,
                " has size ", own, " in dimension ", d, ", where its subscript had size ",
                size, " before");
      if (size == 1) size = own;
    }
    given.push_back(x);
  }
  Labels output = equation.output ? labels_of(*equation.output, most_dots, most_dots)
                                  : implied_output(given, most_dots);
  std::array<bool, kMaxLabels> in_output{}, in_input{};
  for (Operand& x : given) {
    for (int label : x.labels) in_input[size_t(label)] = true;
    x = with_unique_labels(x);
  }
  for (int label : output) {
    PKG_CHECK(in_input[size_t(label)] && !in_output[size_t(label)], RuntimeError,
              "[einsum] an output subscript of '", text, "' occurs twice or in no operand");
    in_output[size_t(label)] = true;
  }
  Operand result = given[0];
  for (size_t i = 1; i < given.size(); ++i) {
    auto needed = in_output;
    for (size_t later = i + 1; later < given.size(); ++later) {
      for (int label : given[later].labels) needed[size_t(label)] = true;
    }
    result = contract(result, given[i], needed);
  }
  result = summed(result, [&](int label) { return in_output[size_t(label)]; });
  return arranged(result, output);
}

PKG_LIBRARY_FRAGMENT(pkg, m) {
  m.def("einsum(str equation, Tensor[] operands) -> Tensor")
      .doc("Sums of products, with letters for dimensions: 'ij,jk->ik' is a product of "
           "matrices.")
      .composite(einsum);
}

}  // namespace
}  // namespace pkg::ops
