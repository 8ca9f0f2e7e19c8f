// SPDX-License-Identifier: Apache-2.0
// A class whose parameters nobody may name (%without_names).
#pragma once

namespace garden {

/// Nobody names its parameters.
struct Pot {
  int liters = 0;
  explicit Pot(int liters = 0) : liters(liters) {}
  Pot operator+(const Pot& other) const { return Pot(liters + other.liters); }
  bool operator==(const Pot& other) const { return liters == other.liters; }
  bool operator<(const Pot& other) const { return liters < other.liters; }
  int operator[](int place) const { return liters + place; }
  int operator()(int by, int plus = 0) const { return liters * by + plus; }
  Pot operator*(int by) const { return Pot(by * liters); }
  int times(int by) const { return liters * by; }
  static Pot of(int liters) { return Pot(liters); }
};
inline Pot operator*(int by, const Pot& pot) { return pot * by; }

}  // namespace garden
