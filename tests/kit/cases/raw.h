// SPDX-License-Identifier: Apache-2.0
// tests/kit/cases/raw.h: pointers as C has them: texts that are written to, keys, arrays, what
// comes out of parameters.
#pragma once

#include <cstdarg>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace raw {
struct Item {
  int v = 1;
  static inline int alive = 0;
  Item(int value = 1) : v(value) { ++alive; }
  Item(const Item& other) : v(other.v) { ++alive; }
  ~Item() { --alive; }
};

// --- texts that C++ writes to -------------------------------------------------------------
inline std::string shout(char* text) {
  if (!text) return "null";
  for (char* at = text; *at; ++at) *at = '!';
  return text;
}
inline std::string fill(char text[8]) {
  for (int i = 0; i < 7; ++i) text[i] = '.';
  text[7] = 0;
  return text;
}
inline int letters_of(wchar_t* text) {
  int all = 0;
  for (wchar_t* at = text; at && *at; ++at, ++all) *at = L'!';
  return all;
}
inline int count(char* names[], int n) {
  int all = 0;
  for (int i = 0; i < n; ++i) {
    for (char* at = names[i]; at && *at; ++at, ++all) *at = '#';
  }
  return all;
}

// --- keys -----------------------------------------------------------------------------------
struct Table {
  std::map<unsigned, int> by_index;
  std::map<std::string, int> by_name;
  int& operator[](unsigned index) { return by_index[index]; }
  int& operator[](const char* key) { return by_name[key]; }
};
struct ByWide {
  std::map<std::wstring, int> all;
  int& operator[](const wchar_t* key) { return all[key]; }
};
struct ByItem {
  std::map<const Item*, int> all;
  int& operator[](const Item* key) { return all[key]; }
};

// --- arrays of pointers ---------------------------------------------------------------------
inline int sum(const Item* const items[], int n) {
  int all = 0;
  for (int i = 0; i < n; ++i) all += items[i] ? items[i]->v : 0;
  return all;
}
inline int sum_of(const Item* items[], int n) { return sum(items, n); }
inline int letters(const char* const names[], int n) {
  int all = 0;
  for (int i = 0; i < n; ++i) all += int(std::string(names[i] ? names[i] : "").size());
  return all;
}
const char* const names[] = {"a", "b"};

// --- what comes out of parameters -----------------------------------------------------------
inline int parse(const char* text, const char** end) {
  *end = text + (*text ? 1 : 0);
  return int(*text);
}
inline const Item* standing() {
  static const Item one(7);
  return &one;
}
inline bool find(bool there, const Item** item) {
  *item = there ? standing() : nullptr;
  return there;
}
inline bool find_by_reference(const Item*& item) {
  item = standing();
  return true;
}
inline bool open(int v, Item** made) {
  *made = v ? new Item(v) : nullptr;
  return v != 0;
}
inline void open_by_reference(int v, Item*& made) { made = new Item(v); }
inline void trace(std::vector<int>& path) { path = {1, 2, 3}; }
inline int length(const std::vector<int>& path) { return int(path.size()); }

// --- the rest -------------------------------------------------------------------------------
typedef const void* Address;
inline Address address() { return "x"; }
inline bool is_address(Address one) { return one == address(); }
inline bool give_address(const std::function<bool(const void*)>& run) {
  return run && run(address());
}
inline bool give_null(const std::function<bool(void*)>& run) { return run && run(nullptr); }
inline int printed(const char* format, va_list) { return int(std::string(format).size()); }
inline std::vector<double*> numbers() { return {}; }
inline std::map<std::string, double*> variables() {
  static double one = 1;
  return {{"one", &one}};
}
inline double first(const std::vector<double*>& list) {
  return list.empty() ? 0 : *list[0];
}
}  // namespace raw
