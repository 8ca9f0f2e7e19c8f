// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/values.h: one function for each kind of plain value.
#pragma once

#include <algorithm>
#include <chrono>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace values {

// --- numbers, there and back --------------------------------------------------------------

inline int8_t same_int8(int8_t value) { return value; }
inline int16_t same_int16(int16_t value) { return value; }
inline int32_t same_int32(int32_t value) { return value; }
inline int64_t same_int64(int64_t value) { return value; }
inline uint8_t same_uint8(uint8_t value) { return value; }
inline uint16_t same_uint16(uint16_t value) { return value; }
inline uint32_t same_uint32(uint32_t value) { return value; }
inline uint64_t same_uint64(uint64_t value) { return value; }
inline long long same_long_long(long long value) { return value; }
inline size_t same_size(size_t value) { return value; }
inline float same_float(float value) { return value; }
inline double same_double(double value) { return value; }
inline bool same_bool(bool value) { return value; }
inline char same_char(char value) { return value; }
inline std::complex<double> same_complex(std::complex<double> value) { return value; }
inline std::complex<float> same_complex_float(std::complex<float> value) { return value; }
/// By reference to const, as templates of C++ like it.
inline double sum_of(const int64_t& a, const double& b) { return double(a) + b; }
inline void nothing() {}

// --- text and bytes -------------------------------------------------------------------------

inline std::string same_string(const std::string& text) { return text; }
inline std::string by_value(std::string text) { return text + "!"; }
inline std::string of_view(std::string_view text) { return std::string(text); }
inline std::string of_pointer(const char* text) { return text; }
inline const char* literal() { return "h\xc3\xa9"; }
inline int64_t bytes_of(const std::string& text) { return int64_t(text.size()); }
inline std::string broken_string() { return "ab\xff"; }
inline std::vector<std::byte> reversed(const std::vector<std::byte>& data) {
  return {data.rbegin(), data.rend()};
}

// --- what the standard library has types for ------------------------------------------------

inline std::string path_or_text(const std::filesystem::path&) { return "path"; }
inline std::string path_or_text(const std::string&) { return "text"; }
inline std::filesystem::path parent(const std::filesystem::path& path) {
  return path.parent_path();
}
inline std::chrono::microseconds twice(std::chrono::microseconds time) { return 2 * time; }
inline std::chrono::nanoseconds ns(std::chrono::nanoseconds time) { return time; }
inline std::chrono::seconds whole(std::chrono::seconds time) { return time; }
inline std::chrono::hours longest() { return std::chrono::hours::max(); }
inline int64_t in_ms(std::chrono::milliseconds time) { return time.count(); }
inline std::chrono::duration<double> seconds(double count) {
  return std::chrono::duration<double>(count);
}
using Time = std::chrono::system_clock::time_point;
inline Time later(Time time, std::chrono::seconds by) { return time + by; }

using Number = std::variant<int64_t, double, std::string>;
inline Number same_variant(const Number& value) { return value; }
inline std::string held(const Number& value) {
  static const char* const names[] = {"int", "double", "string"};
  return names[value.index()];
}
using Maybe = std::variant<std::monostate, bool, std::vector<int32_t>>;
inline Maybe same_maybe(const Maybe& value) { return value; }
inline std::optional<int32_t> half_of(std::optional<int32_t> value) {
  return value && *value % 2 == 0 ? std::optional(*value / 2) : std::nullopt;
}
inline std::optional<std::string> first_of(
    const std::vector<std::optional<std::string>>& all) {
  const auto found = std::find_if(all.begin(), all.end(), [](auto& x) { return bool(x); });
  return found == all.end() ? std::nullopt : *found;
}

}  // namespace values
