// SPDX-License-Identifier: Apache-2.0
// framework/resource_var.cc: see resource_var.h.
//
// Note [Declared by others]
// Sources that avoid TensorFlow's resource_mgr.h declare two functions of it themselves, in
// the namespace `tensorflow`, and expect to be linked to them.  Here they are.  As there,
// LookupResource() adds a reference, which its caller has to drop.
#include "framework/resource_var.h"

namespace pkg::framework {

std::string Var::DebugString() const {
  return str(DataTypeString(tensor_.dtype()), "/", tensor_.shape().DebugString());
}

}  // namespace pkg::framework

namespace tensorflow {

using pkg::framework::OpKernelContext;
using pkg::framework::ResourceHandle;
using pkg::framework::Status;
using pkg::framework::Var;

const ResourceHandle& HandleFromInput(OpKernelContext* context, int input);
const ResourceHandle& HandleFromInput(OpKernelContext* context, int input) {
  return context->input_handle(input);
}

template <class T, bool use_dynamic_cast>
Status LookupResource(OpKernelContext* context, const ResourceHandle& handle, T** value) {
  return pkg::framework::LookupResource(context, handle, value);
}
template Status LookupResource<Var, false>(OpKernelContext*, const ResourceHandle&, Var**);
template Status LookupResource<Var, true>(OpKernelContext*, const ResourceHandle&, Var**);

}  // namespace tensorflow
