// SPDX-License-Identifier: Apache-2.0
// pydemo.h: the first function that one binds.
#pragma once

namespace pydemo {

/// Adds two doubles.
double add(double a, double b);

}  // namespace pydemo
