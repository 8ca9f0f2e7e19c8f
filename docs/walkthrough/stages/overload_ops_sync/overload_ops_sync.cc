// SPDX-License-Identifier: Apache-2.0
#include "overload_ops_sync.h"

namespace overload_ops_sync {

using namespace stages;

Scalar::Scalar(double x) : tensor_(tensor_of(x)) {}
// `v` can be written: a copy has a number of its own.
Scalar::Scalar(const Scalar& other) : Scalar(other.get_v()) {}

double Scalar::get_v() const { return value_of(tensor_); }
void Scalar::set_v(double value) { *tensor_.data<double>() = value; }
std::string Scalar::repr() const { return "Scalar(" + text_of(get_v()) + ")"; }
Scalar Scalar::operator-() const { return apply(neg, *this, 0.0); }

STAGES_EACH_OPERATOR(STAGES_DEFINED, Scalar)

}  // namespace overload_ops_sync
