// SPDX-License-Identifier: Apache-2.0
// tensorflow/core/framework/resource_mgr.h: see pkg_tensorflow.h.
#pragma once

#include "compat/tf1/pkg_tensorflow.h"

namespace tensorflow {
using pkg::framework::CreateResource;
using pkg::framework::DeleteResource;
using pkg::framework::HandleFromInput;
using pkg::framework::LookupResource;
using pkg::framework::MakeRefCountingHandle;
using pkg::framework::MakeResourceHandle;
}  // namespace tensorflow
