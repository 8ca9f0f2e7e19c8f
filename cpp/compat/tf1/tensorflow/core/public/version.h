// SPDX-License-Identifier: Apache-2.0
// tensorflow/core/public/version.h: the version whose names these headers have.
#pragma once

#define TF_MAJOR_VERSION 2
#define TF_MINOR_VERSION 8
#define TF_PATCH_VERSION 0
#define TF_VERSION_STRING "2.8.0"
