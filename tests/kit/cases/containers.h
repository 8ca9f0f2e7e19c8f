// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/containers.h: containers of values and of classes; views of arrays.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

namespace containers {

struct Point {
  int x = 0;
  int y = 0;
  Point() = default;
  Point(int x, int y) : x(x), y(y) {}
};
struct Node {
  std::string name;
  explicit Node(const std::string& name) : name(name) {}
};

// --- of values ------------------------------------------------------------------------------

inline std::vector<double> doubled(std::vector<double> values) {
  for (double& value : values) value *= 2;
  return values;
}
inline std::vector<bool> flipped(std::vector<bool> flags) {
  flags.flip();
  return flags;
}
inline std::vector<std::string> reversed(const std::vector<std::string>& words) {
  return {words.rbegin(), words.rend()};
}
inline std::list<int64_t> sorted(std::list<int64_t> values) {
  values.sort();
  return values;
}
inline std::deque<float> rotated(std::deque<float> values) {
  if (values.empty()) return values;
  values.push_back(values.front());
  values.pop_front();
  return values;
}
inline std::array<int, 3> squares(const std::array<int, 3>& v) {
  return {v[0] * v[0], v[1] * v[1], v[2] * v[2]};
}
inline std::set<std::string> unique(const std::vector<std::string>& words) {
  return {words.begin(), words.end()};
}
inline bool has(const std::set<int64_t>& values, int64_t value) {
  return values.count(value);
}
inline std::unordered_set<int64_t> odd_ones(const std::unordered_set<int64_t>& values) {
  std::unordered_set<int64_t> result;
  for (const int64_t value : values) {
    if (value % 2) result.insert(value);
  }
  return result;
}
inline std::map<std::string, int64_t> counts(const std::vector<std::string>& words) {
  std::map<std::string, int64_t> result;
  for (const std::string& word : words) ++result[word];
  return result;
}
inline std::unordered_map<int64_t, std::vector<std::string>> by_length(
    const std::set<std::string>& words) {
  std::unordered_map<int64_t, std::vector<std::string>> result;
  for (const std::string& word : words) result[int64_t(word.size())].push_back(word);
  return result;
}
inline std::pair<std::string, int64_t> swapped(
    const std::pair<int64_t, std::string>& pair) {
  return {pair.second, pair.first};
}
inline std::tuple<bool, double, std::string> turned(
    const std::tuple<std::string, bool, double>& three) {
  return {std::get<1>(three), std::get<2>(three), std::get<0>(three)};
}
/// Something with every kind of container in it.
using Deep =
    std::map<std::pair<int, int>, std::vector<std::optional<std::tuple<int, std::string>>>>;
inline Deep same_deep(const Deep& deep) { return deep; }
inline std::vector<int> applied(const std::vector<std::function<int(int)>>& functions,
                                int x) {
  std::vector<int> results;
  for (const auto& function : functions) results.push_back(function(x));
  return results;
}

// --- of classes -----------------------------------------------------------------------------

inline Point sum(const std::vector<Point>& points) {
  Point result;
  for (const Point& point : points) result = {result.x + point.x, result.y + point.y};
  return result;
}
inline std::vector<Point> diagonal(int n) {
  std::vector<Point> result;
  for (int i = 0; i < n; ++i) result.push_back({i, i});
  return result;
}
inline std::map<std::string, Point> named(
    const std::vector<std::pair<std::string, Point>>& all) {
  return {all.begin(), all.end()};
}
inline std::optional<Point> at(const std::map<std::string, Point>& points,
                               const std::string& name) {
  const auto found = points.find(name);
  return found == points.end() ? std::nullopt : std::optional(found->second);
}
inline int x_or(const std::optional<Point>& point, int other) {
  return point ? point->x : other;
}
inline std::string held(const std::variant<int, Point, std::shared_ptr<Node>>& value) {
  static const char* const names[] = {"int", "Point", "Node"};
  return names[value.index()];
}
inline std::vector<std::variant<int, Point>> mixed() { return {1, Point(2, 3)}; }
inline std::tuple<Point, int> with_length(const Point& point) {
  return {point, point.x * point.x + point.y * point.y};
}
using Nodes = std::vector<std::shared_ptr<Node>>;
inline Nodes backwards(const Nodes& nodes) { return {nodes.rbegin(), nodes.rend()}; }
inline std::vector<std::string> names(const Nodes& nodes) {
  std::vector<std::string> result;
  for (const auto& node : nodes) result.push_back(node ? node->name : "nobody");
  return result;
}
/// Points to what is not its own.
inline int total_x(const std::vector<const Point*>& points) {
  int total = 0;
  for (const Point* point : points) total += point->x;
  return total;
}

/// With containers as members.
struct Path {
  std::vector<Point> points;
  std::map<std::string, double> weights;
  int size() const { return int(points.size()); }
};

// --- views of arrays ------------------------------------------------------------------------

inline double total(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}
inline int64_t total_ints(std::span<const int32_t> values) {
  return std::accumulate(values.begin(), values.end(), int64_t(0));
}
inline void scale(std::span<double> values, double by) {
  for (double& value : values) value *= by;
}
inline std::string text_of(std::span<const char> data) {
  return std::string(data.begin(), data.end());
}
inline std::vector<int64_t> offsets(std::span<const uint8_t> data, uint8_t wanted) {
  std::vector<int64_t> result;
  for (size_t i = 0; i < data.size(); ++i) {
    if (data[i] == wanted) result.push_back(int64_t(i));
  }
  return result;
}
inline std::vector<double> row_sums(const std::vector<std::vector<double>>& rows) {
  std::vector<double> result;
  for (const auto& row : rows) result.push_back(total(row));
  return result;
}

}  // namespace containers
