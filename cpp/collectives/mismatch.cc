// SPDX-License-Identifier: Apache-2.0
// collectives/mismatch.cc: what two requests of one name must have in common.  The texts are
// Horovod's.
#include "collectives/coordinator.h"

namespace pkg::collectives {
namespace {

// "[2, 3]"
std::string shown(const Shape& sizes) {
  std::string text = "[";
  for (const int64_t size : sizes) text += str(text.size() > 1 ? ", " : "", size);
  return text + "]";
}

// "train.py:3" of "/home/me/train.py:3": hosts may have it in other folders.
std::string_view place_in_file(std::string_view site) {
  return site.substr(site.rfind('/') + 1);
}

}  // namespace

// Note [Calls without a name]
// They belong together by their number.  After a branch that only some ranks take, a call
// would meet another one, and where shapes agree nobody would see it: so the lines have to
// agree as well.  Not so where a branch of the root is natural, as of broadcasts, or where
// nothing is sent.
static bool has_a_line(const Request& request) {
  return request.numbered && !request.site.empty() && request.kind != Kind::Broadcast &&
         request.kind != Kind::Join && request.kind != Kind::Barrier;
}

std::string mismatch(const Request& a, const Request& b) {
  const char* kind = name_of(a.kind);
  if (a.kind != b.kind) {
    return str("Mismatched MPI operations: One rank did an ", kind,
               ", but another rank did an ", name_of(b.kind), ".");
  }
  if (a.dtype != b.dtype) {
    return str("Mismatched data types: One rank had type ", a.dtype,
               ", but another rank had type ", b.dtype, ".");
  }
  const bool rows = a.kind == Kind::Allgather || a.kind == Kind::Alltoall;
  if (!rows && a.sizes != b.sizes) {
    return str("Mismatched ", kind, " tensor shapes: One rank sent a tensor of shape ",
               shown(a.sizes), ", but another rank sent a tensor of shape ", shown(b.sizes),
               ".");
  }
  if (rows && a.sizes.size() != b.sizes.size()) {
    return str("Mismatched ", kind, " tensor shapes: One rank sent a tensor of rank ",
               a.sizes.size(), ", but another rank sent a tensor of rank ", b.sizes.size(),
               ".");
  }
  for (size_t d = 1; rows && d < a.sizes.size(); ++d) {
    if (a.sizes[d] == b.sizes[d]) continue;
    return str("Mismatched ", kind,
               " tensor shapes: One rank sent a tensor with dimension ", d, " equal to ",
               a.sizes[d], ", but another rank sent a tensor with dimension ", d,
               " equal to ", b.sizes[d], ".");
  }
  if (a.reduction != b.reduction) {
    return str("Mismatched reduce operations: One rank specified ", name_of(a.reduction),
               ", but another rank specified ", name_of(b.reduction), ".");
  }
  if (!same_bits(a.prescale, b.prescale) || !same_bits(a.postscale, b.postscale)) {
    return str("Mismatched prescale and/or postscale factors: One rank specified factors (",
               a.prescale, ", ", a.postscale, "), but another rank specified factors (",
               b.prescale, ", ", b.postscale, ").");
  }
  if (a.root != b.root) {
    return str("Mismatched ", kind, " root ranks: One rank specified root rank ", a.root,
               ", but another rank specified root rank ", b.root, ".");
  }
  if (has_a_line(a) && has_a_line(b) && place_in_file(a.site) != place_in_file(b.site)) {
    return str("Calls without a name were made in different places: at ", a.site,
               " and at ", b.site,
               ". Do all ranks make the same calls? Those that belong together all the "
               "same need a name (name=).");
  }
  if (a.group_size != b.group_size || a.group != b.group) {
    return str("Mismatched groups: One rank sent a group of ", a.group_size,
               " tensors, but another rank sent a group of ", b.group_size, ".");
  }
  return {};
}

}  // namespace pkg::collectives
