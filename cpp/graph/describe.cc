// SPDX-License-Identifier: Apache-2.0
// graph/describe.cc: see describe.h.
#include "graph/describe.h"

#include <charconv>
#include <cmath>

#include "base/json.h"

namespace pkg::graph {
namespace {

std::string tagged(const char* tag, const std::string& value) {
  return "{\"" + std::string(tag) + "\": " + value + "}";
}

std::string number(double value) {
  if (std::isnan(value)) return tagged("float", json_quoted("nan"));
  if (std::isinf(value)) return tagged("float", json_quoted(value < 0 ? "-inf" : "inf"));
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  std::string made(text, end);
  if (made.find_first_of(".e") == std::string::npos) made += ".0";
  return made;
}

std::string number(const Scalar& value) {
  if (value.is_float()) return number(value.to<double>());
  if (value.kind() == Scalar::Kind::Bool) return value.to<bool>() ? "true" : "false";
  return std::to_string(value.to<int64_t>());
}

bool is_number(const Tensor& tensor) {
  return tensor.defined() && tensor.impl()->wrapped_number;
}

template <class List, class F>
std::string listed(const List& items, F text_of) {
  std::string text;
  for (const auto& item : items) text += (text.empty() ? "" : ", ") + text_of(item);
  return "[" + text + "]";
}

// Writes values in the order in which captured() lists their tensors.
struct Writer {
  size_t n_inputs = 0;
  size_t n_tensors = 0;

  std::string input() { return tagged("input", std::to_string(n_inputs++)); }
  std::string tensor(const Tensor& tensor) {
    if (!tensor.defined()) return "null";
    if (is_number(tensor)) return tagged("number", number(item(tensor)));
    return tagged("tensor", std::to_string(n_tensors++));
  }

  std::string operator()(std::monostate) { return "null"; }
  std::string operator()(const Tensor& value) { return tensor(value); }
  std::string operator()(const Scalar& value) { return number(value); }
  std::string operator()(const std::string& value) { return json_quoted(value); }
  std::string operator()(DType value) {
    return tagged("dtype", json_quoted(name_of(value)));
  }
  std::string operator()(Device value) {
    return tagged("device", json_quoted(value.str()));
  }
  std::string operator()(const Shape& value) {
    return listed(value, [](int64_t size) { return std::to_string(size); });
  }
  std::string operator()(const std::vector<double>& value) {
    return listed(value, [](double x) { return number(x); });
  }
  std::string operator()(const std::vector<bool>& value) {
    return listed(value, [](bool truth) { return number(Scalar(truth)); });
  }
  std::string operator()(const std::vector<std::string>& value) {
    return listed(value, [](const std::string& text) { return json_quoted(text); });
  }
  std::string operator()(const TensorList&) { return ""; }  // arguments_text() has them
};

const char* name_of_argument(const Node& node, size_t i) {
  if (node.kind == NodeKind::Op) return node.op->schema.arguments[i].name.c_str();
  if (node.kind == NodeKind::Assign) return "value";
  constexpr const char* of_gradients[] = {"ys", "grad_ys", "xs", "stops"};
  return of_gradients[i];
}

std::string entry(const std::string& name, const std::string& value) {
  return "[" + json_quoted(name) + ", " + value + "]";
}

}  // namespace

std::string arguments_text(const Node& node) {
  PKG_CHECK(!node.function, NotImplementedError, "[graph] ", node.name, " (", node.type(),
            ") runs functions or graphs of its own, which are no data.");
  std::vector<std::string> entries;
  Writer write;
  if (node.outer.node) {
    entries.push_back(entry("captured", tagged("symbol", json_quoted(node.outer.str()))));
  }
  if (node.variable) {
    entries.push_back(
        entry("variable", tagged("operation", json_quoted(node.variable->name))));
  }
  if (node.value.defined()) entries.push_back(entry("value", tagged("tensor", "0")));
  auto next = node.inputs.begin();
  size_t n_args = node.args.size();
  // As it was before there were stops, so that older releases read what has none.
  if (node.kind == NodeKind::Gradients && std::get<TensorList>(node.args[3]).empty())
    --n_args;
  for (size_t i = 0; i < n_args; ++i) {
    const auto is_input = [&](int32_t item) {
      const bool found = next != node.inputs.end() && next->arg == i && next->item == item;
      if (found) ++next;
      return found;
    };
    std::string text;
    if (const auto* list = std::get_if<TensorList>(&node.args[i])) {
      int32_t k = 0;
      text = listed(*list, [&](const Tensor& tensor) {
        return is_input(k++) ? write.input() : write.tensor(tensor);
      });
    } else {
      text = is_input(-1) ? write.input() : std::visit(write, node.args[i]);
    }
    entries.push_back(entry(name_of_argument(node, i), text));
  }
  return listed(entries, [](const std::string& text) { return text; });
}

TensorList captured(const Node& node) {
  TensorList found;
  if (node.value.defined()) found.push_back(node.value);
  for (const Value& value : node.args) {
    for_each_tensor(value, [&](const Tensor& tensor) {
      if (!is_number(tensor)) found.push_back(tensor);
    });
  }
  return found;
}

}  // namespace pkg::graph
