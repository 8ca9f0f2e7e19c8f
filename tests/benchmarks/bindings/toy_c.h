/* SPDX-License-Identifier: Apache-2.0 */
/* toy_c.h: toy.h as C functions, for ctypes and cffi, which cannot call C++.  cffi
   reads this file too, so it has no preprocessor lines. */

typedef struct toy_point toy_point;
typedef int (*toy_function)(void* context, double x, double* result);

double toy_add(double a, double b);
int toy_twice(int n);
double toy_clamp(double value, double low, double high);
/* The result is of *length bytes; give it to toy_free. */
char* toy_greet(const char* name, size_t size, size_t* length);
void toy_free(void* memory);
void toy_scaled(const double* values, size_t count, double by, double* result);
/* These give 0, or -1 with toy_error() saying why. */
int toy_divide(double a, double b, double* result);
int toy_apply(toy_function f, void* context, double x, double* result);
const char* toy_error(void);

toy_point* toy_point_new(double x, double y);
void toy_point_delete(toy_point* p);
double toy_point_norm2(const toy_point* p);
double toy_point_dot(const toy_point* p, const toy_point* other);
void toy_point_move(toy_point* p, double dx, double dy);
toy_point* toy_point_add(const toy_point* p, const toy_point* other);
int toy_point_equal(const toy_point* p, const toy_point* other);
double toy_point_x(const toy_point* p);
double toy_point_y(const toy_point* p);
void toy_point_set_x(toy_point* p, double value);
void toy_point_set_y(toy_point* p, double value);
