// SPDX-License-Identifier: Apache-2.0
// slow_probe.cc: a library whose constructor takes its time in the process that tries it.
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tensorflow/core/framework/op.h"

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

REGISTER_OP("SlowProbe" TEXT(NUMBER)).Output("y: float");

namespace {
[[gnu::constructor]] void wait_where_it_is_tried() {
  if (strcmp(program_invocation_short_name, "sh") == 0) usleep(1500 * 1000);
}
}  // namespace
