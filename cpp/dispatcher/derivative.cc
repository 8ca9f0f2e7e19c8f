// SPDX-License-Identifier: Apache-2.0
// dispatcher/derivative.cc: reading what .derivative(...) says of one argument's gradient.
#include "dispatcher/derivative.h"

#include "dispatcher/library.h"

namespace pkg {
namespace detail {

int number_of(std::string_view name, std::string_view word) {
  if (!name.starts_with(word)) return -1;
  name.remove_prefix(word.size());
  if (name.empty()) return 0;
  const bool digit = name.size() == 1 && name[0] >= '1' && name[0] <= '9';
  return digit ? name[0] - '0' : -1;
}

const Tensor& grad_tensor(const GradContext& g, GradInput input) {
  switch (input.kind) {
    case GradInput::Result: return g.result(input.index);
    case GradInput::Grad: return g.grad(input.index);
    default: return g.input(input.index);
  }
}

}  // namespace detail

namespace {

// A name of .derivative, and the type that its parameter must have.
struct Named {
  GradInput input;
  ArgType type = ArgType::Tensor;
  bool list = false, optional = false;
};

bool read_name(const Schema& schema, std::string_view name, Named& named) {
  const size_t n_results = schema.returns.size();
  const size_t dot = name.find('.');
  const int index = schema.index_of(name.substr(0, dot));
  if (index >= 0) {
    const Argument& argument = schema.arguments[size_t(index)];
    named.input = {GradInput::Argument, uint8_t(index)};
    named.type = argument.type;
    named.list = argument.list;
    named.optional = argument.optional && argument.type != ArgType::Tensor;
    if (dot == name.npos) return true;
    if (argument.type != ArgType::Tensor || argument.list) return false;
    for (int i = 0; i < index; ++i) {  // in a list every tensor has its own shape
      const Argument& before = schema.arguments[size_t(i)];
      if (before.type == ArgType::Tensor && before.list) return false;
    }
    const bool shape = name.substr(dot) == ".shape";
    named.input.kind = shape ? GradInput::ShapeOf : GradInput::DTypeOf;
    named.type = shape ? ArgType::Int : ArgType::DType;
    named.list = shape;
    return shape || name.substr(dot) == ".dtype";
  }
  for (const auto& [word, kind] :
       {std::pair("result", GradInput::Result), std::pair("grad", GradInput::Grad)}) {
    const int number = detail::number_of(name, word);
    if (number < 0 || size_t(number) >= n_results) continue;
    named.input = {kind, uint8_t(number)};
    return true;
  }
  return false;
}

}  // namespace

OpBuilder& OpBuilder::derivative(std::string_view argument, std::string_view inputs,
                                 const void* formula, Derivative::Evaluate evaluate,
                                 std::span<const detail::CppType> types) {
  const Schema& schema = op_.schema;
  const auto refuse = [&](const auto&... text) {
    detail::raise<ValueError>("[register] .derivative of ", schema.str(), " at ",
                              origin_.where, ": ", text...);
  };
  Gradient& gradient = op_.gradient;
  Derivative made;
  const int index = schema.index_of(argument);
  if (index < 0 || schema.arguments[size_t(index)].type != ArgType::Tensor) {
    refuse("expected the name of a Tensor parameter, got '", argument, "'.");
  }
  for (const Derivative& other : gradient.derivatives) {
    if (other.argument == index) refuse("'", argument, "' has a gradient already.");
  }
  if (gradient.has_formula())
    refuse("the op has a formula for all arguments, .grad(...), already.");
  made.argument = uint8_t(index);
  made.evaluate = evaluate;
  made.formula = formula;
  for (int i = 0; i <= index; ++i) {
    const Argument& parameter = schema.arguments[size_t(i)];
    if (parameter.type == ArgType::Tensor && parameter.list) {
      refuse("a list of tensors has as many gradients as tensors. Hint: .grad(...).");
    }
    if (i < index) made.tensor += parameter.type == ArgType::Tensor;
  }
  const uint64_t wanted_by = uint64_t{1} << index;
  size_t n = 0;
  while (!inputs.empty()) {
    const size_t space = std::min(inputs.find(' '), inputs.size());
    const std::string_view name = inputs.substr(0, space);
    inputs.remove_prefix(std::min(space + 1, inputs.size()));
    Named named;
    if (!read_name(schema, name, named)) {
      refuse("expected names of parameters, 'self.shape', 'self.dtype', 'result' or "
             "'grad1', got '",
             name, "'.");
    }
    if (n >= types.size()) {
      refuse("the formula has no parameter for '", name,
             "'. Hint: it takes the gradient of "
             "the result, then what is named, in this order.");
    }
    const detail::CppType& type = types[n];
    if (type.type != named.type || type.list != named.list ||
        (named.type != ArgType::Tensor && type.optional != named.optional)) {
      refuse("the parameter for '", name, "' has another type, ", type.name, ".");
    }
    const GradInput input = named.input;
    if (input.kind == GradInput::Argument && named.type == ArgType::Tensor) {
      gradient.saves.arguments[input.index] |= wanted_by;
    } else if (input.kind == GradInput::Result) {
      gradient.saves.results[input.index] |= wanted_by;
    }
    made.inputs[n++] = input;
  }
  if (n != types.size()) {
    refuse("the formula has ", types.size() + 1, " parameters, but takes the gradient and ",
           n, " named values.");
  }
  gradient.derivatives.push_back(made);
  gradient.where = origin_.where;
  return *this;
}

}  // namespace pkg
