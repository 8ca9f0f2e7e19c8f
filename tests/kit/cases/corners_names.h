// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/corners_names.h: classes whose bases have other names where they are said.
#pragma once

#include "corners.h"

namespace named {
using corners::Base;
using corners::Pair;
struct ByName : Base {};
struct PairByName : Pair<int> {};
}  // namespace named
namespace whole {
using namespace corners;
struct ByDirective : Base {};
struct PairByDirective : Pair<int> {};
}  // namespace whole
namespace inner = corners;
struct ByAlias : inner::Base {};
struct PairByAlias : inner::Pair<int> {};
namespace outer {
namespace detail {
struct Hidden {
  int v = 4;
};
}  // namespace detail
using namespace detail;
struct ByInner : Hidden {};
}  // namespace outer
namespace circle {
using namespace whole;  // which it goes round with
struct ByRound : ByDirective {};
}  // namespace circle
namespace whole {
using namespace circle;
struct ByCircle : ByRound {};
}  // namespace whole
struct FromRoot : ::corners::Base {};
using corners::Base;
struct Plainly : Base {};
