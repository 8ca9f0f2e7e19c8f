// SPDX-License-Identifier: Apache-2.0
// toy_c.cc: the functions of toy_c.h.
#include "toy.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#pragma GCC visibility push(default)
extern "C" {
#include "toy_c.h"
}
#pragma GCC visibility pop

namespace {

thread_local std::string t_error;

// Runs f; its exception's text goes to toy_error().
template <class F>
int guarded(F&& f) {
  try {
    f();
    return 0;
  } catch (const std::exception& error) { t_error = error.what(); }
  return -1;
}

toy::Point* cpp(toy_point* p) { return reinterpret_cast<toy::Point*>(p); }
const toy::Point* cpp(const toy_point* p) { return reinterpret_cast<const toy::Point*>(p); }
toy_point* c(toy::Point* p) { return reinterpret_cast<toy_point*>(p); }

}  // namespace

double toy_add(double a, double b) { return toy::add(a, b); }
int toy_twice(int n) { return toy::twice(n); }
double toy_clamp(double value, double low, double high) {
  return toy::clamp(value, low, high);
}
char* toy_greet(const char* name, size_t size, size_t* length) {
  const std::string text = toy::greet(std::string(name, size));
  char* copy = static_cast<char*>(std::malloc(text.size()));
  if (!copy) return nullptr;
  std::memcpy(copy, text.data(), text.size());
  *length = text.size();
  return copy;
}
void toy_free(void* memory) { std::free(memory); }
void toy_scaled(const double* values, size_t count, double by, double* result) {
  const auto out = toy::scaled(std::vector<double>(values, values + count), by);
  std::copy(out.begin(), out.end(), result);
}
int toy_divide(double a, double b, double* result) {
  return guarded([&] { *result = toy::divide(a, b); });
}
int toy_apply(toy_function f, void* context, double x, double* result) {
  return guarded([&] {
    const auto call = [&](double value) {
      double out = 0.0;
      if (f(context, value, &out) != 0) throw std::runtime_error("callback failed");
      return out;
    };
    *result = toy::apply(call, x);
  });
}
const char* toy_error(void) { return t_error.c_str(); }

toy_point* toy_point_new(double x, double y) { return c(new toy::Point(x, y)); }
void toy_point_delete(toy_point* p) { delete cpp(p); }
double toy_point_norm2(const toy_point* p) { return cpp(p)->norm2(); }
double toy_point_dot(const toy_point* p, const toy_point* other) {
  return cpp(p)->dot(*cpp(other));
}
void toy_point_move(toy_point* p, double dx, double dy) { cpp(p)->move(dx, dy); }
toy_point* toy_point_add(const toy_point* p, const toy_point* other) {
  return c(new toy::Point(*cpp(p) + *cpp(other)));
}
int toy_point_equal(const toy_point* p, const toy_point* other) {
  return *cpp(p) == *cpp(other);
}
double toy_point_x(const toy_point* p) { return cpp(p)->x; }
double toy_point_y(const toy_point* p) { return cpp(p)->y; }
void toy_point_set_x(toy_point* p, double value) { cpp(p)->x = value; }
void toy_point_set_y(toy_point* p, double value) { cpp(p)->y = value; }
