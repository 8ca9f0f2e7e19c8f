// SPDX-License-Identifier: Apache-2.0
// framework/inference.cc: attributes that follow from a call, and shapes before it runs.
#include "framework/calling.h"

namespace pkg::framework {
namespace {

[[noreturn]] void refuse(const std::string& text, bool type) {
  if (type) throw TypeError(text);
  throw ValueError(text);
}

// Sets the attributes that the inputs decide, one input after the other.
class Inferring {
 public:
  Inferring(const OpDef& def, std::span<const DataType> types,
            std::span<const size_t> counts)
      : def_(def),
        types_(types),
        counts_(counts),
        attrs_(def.attrs.size()),
        from_(def.attrs.size()) {}

  AttrValues run() {
    size_t at = 0;
    for (size_t i = 0; i < def_.inputs.size(); ++i) {
      take(def_.inputs[i], types_.subspan(at, counts_[i]));
      at += counts_[i];
    }
    return std::move(attrs_);
  }

 private:
  void take(const ArgDef& input, std::span<const DataType> types) {
    if (!input.type_list_attr.empty()) {
      set(input, input.type_list_attr, DataTypeVector(types.begin(), types.end()));
      return;
    }
    for (DataType type : types) {
      if (input.type_attr.empty()) check_fixed(input, type);
      else if (type != types[0]) refuse_mixed(input, types);
    }
    if (!input.number_attr.empty()) set(input, input.number_attr, int64_t(types.size()));
    if (!input.type_attr.empty() && !types.empty()) {
      set(input, input.type_attr, types[0]);
    }
  }

  void check_fixed(const ArgDef& input, DataType type) const {
    if (type == input.type) return;
    refuse(str("[", def_.name, "] Input '", input.name, "' of '", def_.name,
               "' Op has type ", dtype_name(type), " that does not match expected type of ",
               dtype_name(input.type), "."),
           true);
  }
  void refuse_mixed(const ArgDef& input, std::span<const DataType> types) const {
    std::string names;
    for (DataType type : types)
      names += (names.empty() ? "" : ", ") + std::string(dtype_name(type));
    refuse(str("[", def_.name, "] Tensors in list passed to '", input.name, "' of '",
               def_.name, "' Op have types [", names, "] that don't all match."),
           true);
  }

  void set(const ArgDef& input, const std::string& name, AttrValue value) {
    size_t i = 0;
    while (def_.attrs[i].name != name) ++i;
    if (!from_[i]) {
      from_[i] = &input;
      attrs_[i] = std::move(value);
      return;
    }
    if (attrs_[i] == value) return;
    const ArgDef& before = *from_[i];
    if (auto* length = std::get_if<int64_t>(&value)) {
      refuse(str("[", def_.name, "] List argument '", input.name, "' to '", def_.name,
                 "' Op with length ", *length, " must match length ",
                 std::get<int64_t>(attrs_[i]), " of argument '", before.name, "'."),
             false);
    }
    if (auto* type = std::get_if<DataType>(&value)) {
      refuse(str("[", def_.name, "] Input '", input.name, "' of '", def_.name,
                 "' Op has type ", dtype_name(*type), " that does not match type ",
                 dtype_name(std::get<DataType>(attrs_[i])), " of argument '", before.name,
                 "'."),
             true);
    }
    refuse(str("[", def_.name, "] Input '", input.name, "' of '", def_.name,
               "' Op has types ", attr_text(value), " that do not match types ",
               attr_text(attrs_[i]), " of argument '", before.name, "'."),
           true);
  }

  const OpDef& def_;
  std::span<const DataType> types_;
  std::span<const size_t> counts_;
  AttrValues attrs_;
  std::vector<const ArgDef*> from_;  // which input decided an attribute
};

std::string input_shapes(std::span<const KnownInput> inputs) {
  std::string text;
  for (const KnownInput& input : inputs) {
    text += (text.empty() ? "" : ", ") +
            (input.shape.known_rank ? input.shape.str() : std::string("?"));
  }
  return text;
}

}  // namespace

CallTypes::CallTypes(const OpDef& def, std::span<const Value> args) {
  for (size_t i = 0; i < def.inputs.size(); ++i) {
    const ArgDef& input = def.inputs[i];
    const bool handle = input.type == DT_RESOURCE || input.type == DT_VARIANT;
    const auto add = [&](const pkg::Tensor& tensor) {
      PKG_CHECK(tensor.defined(), TypeError, "[", def.name, "] expected a tensor for '",
                input.name, "', got None.");
      const DType dtype = tensor.dtype();
      types.push_back(handle && dtype == DType::Int64 ? input.type : data_type_of(dtype));
    };
    const size_t before = types.size();
    if (input.is_list()) {
      for (const pkg::Tensor& tensor : std::get<TensorList>(args[i])) add(tensor);
    } else {
      add(Unbox<pkg::Tensor>::from(args[i]));
    }
    counts.push_back(types.size() - before);
  }
}

AttrValues attrs_of_call(const OpDef& def, std::span<const Value> args,
                         const CallTypes& tensors) {
  AttrValues attrs = Inferring(def, tensors.types, tensors.counts).run();
  size_t parameter = def.inputs.size();
  for (size_t i = 0; i < def.attrs.size(); ++i) {
    const AttrDef& attr = def.attrs[i];
    if (!def.is_inferred(attr.name)) {
      attrs[i] = attr_of_value(attr.type, args[parameter++]);
    } else if (!has_value(attrs[i])) {  // of empty lists only
      PKG_CHECK(has_value(attr.default_value), ValueError, "[", def.name,
                "] expected a "
                "tensor to take the attr '",
                attr.name, "' from, got empty lists.");
      attrs[i] = attr.default_value;
    }
    check_attr(def, attr, attrs[i]);
  }
  return attrs;
}

std::vector<KnownOutput> infer_outputs(const OpRegistrationData& data,
                                       const AttrValues& attrs,
                                       std::span<const KnownInput> inputs,
                                       std::string_view node) {
  const OpDef& def = data.op_def;
  DataTypeVector types;
  for (const ArgDef& output : def.outputs) append_types(def, output, attrs, &types);
  std::vector<KnownOutput> outputs;
  for (DataType type : types) outputs.push_back({type, PartialShape{false, {}}});
  if (!data.shape_inference_fn) return outputs;
  std::vector<PartialShape> shapes;
  std::vector<const Tensor*> values;
  for (const KnownInput& input : inputs) {
    shapes.push_back(input.shape);
    values.push_back(input.value);
  }
  shape_inference::InferenceContext context(NodeAttrs(def, attrs), shapes, values);
  const Status status = data.shape_inference_fn(&context);
  if (!status.ok()) {
    throw_status(status,
                 str("for '", node.empty() ? std::string_view(def.name) : node, "' (op: '",
                     def.name, "') with input shapes: ", input_shapes(inputs), "."));
  }
  for (int i = 0; i < context.num_outputs(); ++i) {
    outputs[size_t(i)].shape = context.partial(context.output(i));
  }
  return outputs;
}

}  // namespace pkg::framework
