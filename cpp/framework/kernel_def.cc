// SPDX-License-Identifier: Apache-2.0
// framework/kernel_def.cc: what REGISTER_KERNEL_BUILDER collects.
#include "framework/kernel_def.h"

namespace pkg::framework {

std::string KernelDef::str() const {
  std::string text = pkg::str("device='", device, "'");
  if (!label.empty()) text += pkg::str("; label='", label, "'");
  for (const Constraint& constraint : constraints) {
    text += pkg::str("; ", constraint.attr, " in ", attr_text(constraint.types));
  }
  return text;
}

KernelDefBuilder::KernelDefBuilder(const char* op) { def_.op = op; }
KernelDefBuilder::KernelDefBuilder(const KernelDefBuilder&) = default;
KernelDefBuilder::KernelDefBuilder(KernelDefBuilder&&) noexcept = default;
KernelDefBuilder& KernelDefBuilder::operator=(const KernelDefBuilder&) = default;
KernelDefBuilder& KernelDefBuilder::operator=(KernelDefBuilder&&) noexcept = default;
KernelDefBuilder::~KernelDefBuilder() = default;

KernelDefBuilder& KernelDefBuilder::Device(const char* device) {
  def_.device = device;
  return *this;
}

KernelDefBuilder& KernelDefBuilder::TypeConstraint(const char* attr, DataType allowed) {
  return TypeConstraint(attr, DataTypeVector{allowed});
}

KernelDefBuilder& KernelDefBuilder::TypeConstraint(const char* attr,
                                                   DataTypeVector allowed) {
  def_.constraints.push_back({attr, std::move(allowed)});
  return *this;
}

KernelDefBuilder& KernelDefBuilder::HostMemory(const char* argument) {
  def_.host_memory.emplace_back(argument);
  return *this;
}

KernelDefBuilder& KernelDefBuilder::Label(const char* label) {
  def_.label = label;
  return *this;
}

}  // namespace pkg::framework
