// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/buffers.h: objects whose memory Python reads and writes.
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

namespace buffers {

class Matrix {
 public:
  Matrix(int rows, int cols)
      : rows_(rows), cols_(cols), items_(size_t(rows) * size_t(cols)) {}
  float* data() { return items_.data(); }
  int rows() const { return rows_; }
  int cols() const { return cols_; }
  float at(int row, int col) const {
    return items_[size_t(row) * size_t(cols_) + size_t(col)];
  }
  void set(int row, int col, float value) {
    items_[size_t(row) * size_t(cols_) + size_t(col)] = value;
  }

 private:
  int rows_, cols_;
  std::vector<float> items_;
};

/// Cannot be written to.
class Samples {
 public:
  explicit Samples(const std::vector<int16_t>& samples) : samples_(samples) {}
  const int16_t* begin() const { return samples_.data(); }
  size_t count() const { return samples_.size(); }

 private:
  std::vector<int16_t> samples_;
};

/// Every second number of others, by columns.
class Plane {
 public:
  Plane() : items_(24) {
    for (size_t i = 0; i < items_.size(); ++i) items_[i] = {double(i), -double(i)};
  }
  std::complex<double>* items() { return items_.data(); }

 private:
  std::vector<std::complex<double>> items_;
};

inline double sum(std::span<const float> values) {
  double total = 0;
  for (const float value : values) total += value;
  return total;
}

}  // namespace buffers
