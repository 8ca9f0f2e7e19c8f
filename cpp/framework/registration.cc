// SPDX-License-Identifier: Apache-2.0
// framework/registration.cc: definitions become records of the one registry, and back.
#include <dlfcn.h>

#include "dispatcher/dispatcher.h"
#include "dispatcher/pending.h"
#include "framework/calling.h"
#include "framework/definitions.h"
#include "framework/op.h"

namespace pkg::framework {
namespace {

// The file that a text of a registration is in.
std::string library_of(const char* text) {
  Dl_info info;
  return dladdr(text, &info) && info.dli_fname ? info.dli_fname : "the program";
}

void refuse_twice(const std::string& name, const Origin& origin) {
  const Operator* before = Dispatcher::get().find_or_null(name, kNamespace);
  if (!before) return;
  pkg::detail::raise<ValueError>("[REGISTER_OP] Op ", name, " is already registered, by ",
                                 library_of(before->where), " (", before->where,
                                 "); registered again by ", library_of(origin.where), " (",
                                 origin.where, ").");
}

void define_op(const OpDefBuilder& builder, const Origin& origin) {
  refuse_twice(builder.name(), origin);
  auto data = std::make_unique<OpRegistrationData>(builder.Finalize());
  const OpDef& def = data->op_def;
  Operator& op = Dispatcher::get().define(kNamespace, schema_of(def), origin.where);
  op.doc = def.doc;
  op.in_program_order = def.is_stateful;
  set_up_calls(op, data.release());  // lives as long as the record does
}

// Those of ours, by name.
std::vector<const OpDef*> definitions(bool include_internal) {
  std::vector<const OpDef*> found;
  for (const Operator* op : Dispatcher::get().all()) {
    const OpRegistrationData* data = definition_of(*op);
    if (data && (include_internal || !data->op_def.name.starts_with('_'))) {
      found.push_back(&data->op_def);
    }
  }
  return found;
}

}  // namespace

OpRegistrar::OpRegistrar(Origin origin, const char* stamp, OpDefBuilder builder) {
  add_registration_block(
      Library::Kind::Fragment, kNamespace, nullptr, origin,
      [builder = std::move(builder), origin](Library&) { define_op(builder, origin); },
      stamp);
}

namespace {
constinit OpRegistry g_registry;
}  // namespace

OpRegistry* OpRegistry::Global() { return &g_registry; }

const OpRegistrationData* OpRegistry::LookUp(const std::string& name) const {
  const Operator* op = Dispatcher::get().find_or_null(name, kNamespace);
  return op ? definition_of(*op) : nullptr;
}

Status OpRegistry::LookUp(const std::string& name, const OpRegistrationData** data) const {
  *data = LookUp(name);
  if (*data) return Status();
  return errors::NotFound("Op type not registered '", name, "' in this process, where ",
                          definitions(true).size(),
                          " are. Make sure that its library is loaded.");
}

Status OpRegistry::LookUpOpDef(const std::string& name, const OpDef** def) const {
  const OpRegistrationData* data = nullptr;
  PKG_RETURN_IF_ERROR(LookUp(name, &data));
  *def = &data->op_def;
  return Status();
}

void OpRegistry::Export(bool include_internal, std::vector<OpDef>* ops) const {
  ops->clear();
  for (const OpDef* def : definitions(include_internal)) ops->push_back(*def);
}
void OpRegistry::GetRegisteredOps(std::vector<OpDef>* ops) const { Export(true, ops); }

std::string OpRegistry::DebugString(bool include_internal) const {
  std::string text;
  for (const OpDef* def : definitions(include_internal)) text += def->str() + "\n";
  return text;
}

std::string op_definition(const std::string& name) {
  const Operator* op = Dispatcher::get().find_or_null(name, "");
  const OpRegistrationData* data = op ? definition_of(*op) : nullptr;
  return data ? data->op_def.json() : "";
}

}  // namespace pkg::framework
