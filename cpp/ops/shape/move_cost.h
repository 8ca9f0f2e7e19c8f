// SPDX-License-Identifier: Apache-2.0
// ops/shape/move_cost.h: what it costs to move an element.
#pragma once

namespace pkg::ops {

/// What an element costs that is only moved, for element_cost(): about what it costs where
/// an operand does not lie as the result does.  Of 16 million elements on it is a task.
inline constexpr double kMoveNanoseconds = 0.0625;

}  // namespace pkg::ops
