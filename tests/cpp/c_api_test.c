/* SPDX-License-Identifier: Apache-2.0 */
/* tests/cpp/c_api_test.c: a program in C11 that knows the runtime by c_api.h alone. */
#include "c_api/c_api.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int failures = 0;
static pkg_status* status;

#define CHECK(condition)                                                   \
  do {                                                                     \
    if (!(condition)) {                                                    \
      printf("  %s:%d: %s (status: %s)\n", __FILE__, __LINE__, #condition, \
             pkg_status_text(status));                                     \
      ++failures;                                                          \
    }                                                                      \
  } while (0)
#define CHECK_ERROR(code, text)                   \
  do {                                            \
    CHECK(pkg_status_code(status) == (code));     \
    CHECK(strstr(pkg_status_text(status), text)); \
  } while (0)
#define CHECK_OK() CHECK(pkg_status_code(status) == PKG_OK)
#define COUNT(array) (sizeof(array) / sizeof(array[0]))

/* ---- Helpers ---- */

static pkg_tensor* vector(const float* values, int64_t n) {
  return pkg_tensor_from_data(values, &n, 1, PKG_FLOAT32, status);
}

static float at(const pkg_tensor* tensor, int64_t i) {
  const float* data = pkg_tensor_data(tensor, status);
  return data ? data[i] : NAN;
}

static pkg_tensor* call(const char* name, const pkg_arg* args, size_t n) {
  const pkg_op* op = pkg_op_find(name, status);
  return op ? pkg_op_call_tensor(op, args, n, status) : NULL;
}

static pkg_tensor* unary(const char* name, pkg_tensor* x) {
  const pkg_arg args[] = {pkg_arg_tensor(NULL, x)};
  return call(name, args, 1);
}

static pkg_tensor* binary(const char* name, pkg_tensor* a, pkg_tensor* b) {
  const pkg_arg args[] = {pkg_arg_tensor(NULL, a), pkg_arg_tensor(NULL, b)};
  return call(name, args, 2);
}

/* ---- Version and status ---- */

static void version_and_codes(void) {
  CHECK(pkg_abi() == PKG_C_ABI);
  CHECK(strchr(pkg_version(), '.'));
  CHECK(strcmp(pkg_code_name(PKG_OK), "OK") == 0);
  CHECK(strcmp(pkg_code_name(PKG_ERROR), "Error") == 0);
  CHECK(strcmp(pkg_code_name(PKG_INTERNAL_ERROR), "InternalError") == 0);
  CHECK(!pkg_code_name(PKG_INTERNAL_ERROR + 1) && !pkg_code_name(-1));
  pkg_status_set(status, PKG_KEY_ERROR, "mine");
  CHECK_ERROR(PKG_KEY_ERROR, "mine");
}

static void null_handles_are_errors(void) {
  CHECK(!pkg_tensor_data(NULL, status));
  CHECK_ERROR(PKG_TYPE_ERROR, "[pkg_tensor_data] expected a tensor, got NULL");
  CHECK(pkg_tensor_ndim(NULL) == -1 && pkg_tensor_numel(NULL) == -1);
  CHECK(!pkg_tensor_sizes(NULL) && !pkg_tensor_is_ready(NULL));
  CHECK(pkg_op_call(NULL, NULL, 0, NULL, status) == -1);
  CHECK_ERROR(PKG_TYPE_ERROR, "expected an op, got NULL");
  CHECK(!pkg_op_find(NULL, NULL)); /* nobody wants to know */
  pkg_tensor_delete(NULL);
  pkg_status_delete(NULL);
  pkg_value_clear(NULL);
}

/* ---- Tensors ---- */

static void tensors_are_made_and_described(void) {
  const int64_t sizes[] = {2, 3};
  const float values[] = {1, 2, 3, 4, 5, 6};
  pkg_tensor* t = pkg_tensor_from_data(values, sizes, 2, PKG_FLOAT32, status);
  CHECK_OK();
  CHECK(pkg_tensor_ndim(t) == 2 && pkg_tensor_numel(t) == 6);
  CHECK(pkg_tensor_sizes(t)[0] == 2 && pkg_tensor_sizes(t)[1] == 3);
  CHECK(pkg_tensor_strides(t)[0] == 3 && pkg_tensor_strides(t)[1] == 1);
  CHECK(pkg_tensor_dtype(t) == PKG_FLOAT32 && pkg_tensor_device(t) == PKG_CPU);
  CHECK(pkg_tensor_is_contiguous(t) && !pkg_tensor_requires_grad(t));
  CHECK(pkg_tensor_is_ready(t) && pkg_tensor_wait(t, status));
  CHECK(at(t, 5) == 6);

  const pkg_arg swap[] = {pkg_arg_tensor(NULL, t), pkg_arg_int("dim0", 0),
                          pkg_arg_int("dim1", 1)};
  pkg_tensor* turned = call("transpose", swap, COUNT(swap));
  CHECK(!pkg_tensor_is_contiguous(turned) && pkg_tensor_strides(turned)[1] == 3);
  float copied[6];
  CHECK(pkg_tensor_copy_out(turned, copied, sizeof copied, status));
  CHECK(copied[0] == 1 && copied[1] == 4 && copied[2] == 2 && copied[5] == 6);
  CHECK(!pkg_tensor_copy_out(turned, copied, 4, status));
  CHECK_ERROR(PKG_VALUE_ERROR, "expected room for 24 bytes, got 4");
  ((float*)pkg_tensor_mutable_data(turned, status))[0] = 9; /* a view of t */
  CHECK(at(t, 0) == 9);
  pkg_tensor_delete(turned);
  pkg_tensor_delete(t);
}

static void wrong_descriptions_are_refused(void) {
  const int64_t negative = -1, huge[] = {INT64_MAX, 2};
  CHECK(!pkg_tensor_empty(&negative, 1, PKG_FLOAT32, PKG_CPU, status));
  CHECK(pkg_status_code(status) != PKG_OK);
  CHECK(!pkg_tensor_empty(huge, 2, PKG_FLOAT32, PKG_CPU, status));
  CHECK(pkg_status_code(status) != PKG_OK);
  CHECK(!pkg_tensor_empty(NULL, 1, PKG_FLOAT32, PKG_CPU, status));
  CHECK_ERROR(PKG_TYPE_ERROR, "expected an array of 1 numbers, got NULL");
  CHECK(!pkg_tensor_empty(NULL, 0, (pkg_dtype)77, PKG_CPU, status));
  CHECK_ERROR(PKG_VALUE_ERROR, "expected a pkg_dtype from 0 to 8, got 77");
  CHECK(!pkg_tensor_empty(NULL, 0, PKG_FLOAT32, (pkg_device)5, status));
  CHECK_ERROR(PKG_VALUE_ERROR, "got 5");

  pkg_tensor* meta = pkg_tensor_empty(huge, 1, PKG_UINT8, PKG_META, status);
  CHECK(meta && pkg_tensor_device(meta) == PKG_META);
  CHECK(!pkg_tensor_data(meta, status));
  CHECK_ERROR(PKG_RUNTIME_ERROR, "no values");
  pkg_tensor_delete(meta);
}

static void count_release(void* context) { ++*(int*)context; }

static void borrowed_memory_is_shared_and_given_back_once(void) {
  double buffer[] = {1, 2, 3, 4, 5, 6};
  int released = 0;
  const int64_t sizes[] = {3}, strides[] = {2};
  pkg_tensor* even = pkg_tensor_borrow(buffer, sizes, strides, 1, PKG_FLOAT64,
                                       count_release, &released, status);
  CHECK_OK();
  CHECK(pkg_tensor_data(even, status) == buffer);
  pkg_tensor* doubled = binary("mul", even, even);
  CHECK(((const double*)pkg_tensor_data(doubled, status))[2] == 25);
  buffer[4] = -1;
  CHECK(((const double*)pkg_tensor_data(even, status))[4] == -1);
  pkg_tensor* second = pkg_tensor_retain(even);
  CHECK(second == even);
  pkg_tensor_delete(even);
  CHECK(released == 0);
  pkg_tensor_delete(second);
  CHECK(released == 1);
  pkg_tensor_delete(doubled);

  const int64_t backwards[] = {-1};
  CHECK(!pkg_tensor_borrow(buffer, sizes, backwards, 1, PKG_FLOAT64, count_release,
                           &released, status));
  CHECK_ERROR(PKG_VALUE_ERROR, "strides of at least 0, got (-1,)");
  CHECK(!pkg_tensor_borrow((char*)buffer + 1, sizes, NULL, 1, PKG_FLOAT64, count_release,
                           &released, status));
  CHECK_ERROR(PKG_VALUE_ERROR, "aligned to 8 bytes");
  CHECK(released == 1);
}

/* ---- Calls ---- */

static void every_kind_of_attribute_reaches_its_op(void) {
  const float values[] = {3, 1, 2, 4};
  const int64_t shape[] = {2, 2};
  pkg_tensor* x = vector(values, 4);

  const pkg_arg alpha[] = {pkg_arg_tensor("other", x), pkg_arg_tensor("self", x),
                           pkg_arg_float("alpha", 0.5)};
  pkg_tensor* y = call("add", alpha, COUNT(alpha));
  CHECK(at(y, 0) == 4.5f); /* float, and names in any order */
  pkg_tensor_delete(y);

  const pkg_arg number[] = {pkg_arg_tensor(NULL, x), pkg_arg_int(NULL, 10)};
  y = call("add", number, COUNT(number));
  CHECK(at(y, 0) == 13 && pkg_tensor_dtype(y) == PKG_FLOAT32); /* int as a tensor */
  pkg_tensor_delete(y);

  const pkg_arg reshape[] = {pkg_arg_tensor(NULL, x), pkg_arg_ints("shape", shape, 2)};
  pkg_tensor* square = call("reshape", reshape, COUNT(reshape));
  CHECK(pkg_tensor_ndim(square) == 2); /* int list */

  const pkg_arg sum[] = {pkg_arg_tensor(NULL, square), pkg_arg_int("dim", 0),
                         pkg_arg_bool("keepdim", true),
                         pkg_arg_dtype("dtype", PKG_FLOAT64)};
  y = call("sum", sum, COUNT(sum)); /* one int for a list, bool, dtype */
  CHECK(pkg_tensor_ndim(y) == 2 && pkg_tensor_dtype(y) == PKG_FLOAT64);
  CHECK(((const double*)pkg_tensor_data(y, status))[1] == 5);
  pkg_tensor_delete(y);

  const pkg_arg all[] = {pkg_arg_tensor(NULL, square), pkg_arg_none("dim")};
  y = call("sum", all, COUNT(all)); /* none */
  CHECK(pkg_tensor_ndim(y) == 0 && at(y, 0) == 10);
  pkg_tensor_delete(y);

  const pkg_arg zeros[] = {pkg_arg_ints(NULL, shape, 2),
                           pkg_arg_device("device", PKG_META)};
  y = call("zeros", zeros, COUNT(zeros)); /* device */
  CHECK(pkg_tensor_device(y) == PKG_META && pkg_tensor_numel(y) == 4);
  pkg_tensor_delete(y);

  pkg_tensor* both[] = {x, x};
  const pkg_arg cat[] = {pkg_arg_tensors(NULL, both, 2)};
  y = call("cat", cat, COUNT(cat)); /* tensor list, dim by default */
  CHECK(pkg_tensor_numel(y) == 8);
  pkg_tensor_delete(y);
  pkg_tensor_delete(square);
  pkg_tensor_delete(x);
}

static void several_results_come_back(void) {
  const float values[] = {3, 1, 2, 4};
  pkg_tensor* x = vector(values, 4);
  pkg_value results[PKG_MAX_RESULTS];
  const pkg_arg max[] = {pkg_arg_tensor(NULL, x), pkg_arg_int(NULL, 0)};
  CHECK(pkg_op_call(pkg_op_find("max.dim", status), max, 2, results, status) == 2);
  CHECK(results[0].kind == PKG_KIND_TENSOR && at(results[0].as.tensor, 0) == 4);
  CHECK(((const int64_t*)pkg_tensor_data(results[1].as.tensor, status))[0] == 3);
  pkg_value_clear(&results[0]);
  pkg_value_clear(&results[1]);
  CHECK(results[0].kind == PKG_KIND_NONE);

  const pkg_arg split[] = {pkg_arg_tensor(NULL, x), pkg_arg_int(NULL, 3)};
  CHECK(pkg_op_call(pkg_op_find("split", status), split, 2, results, status) == 1);
  CHECK(results[0].kind == PKG_KIND_TENSOR_LIST && results[0].length == 2);
  CHECK(at(results[0].as.tensors[1], 0) == 4);
  pkg_value_clear(&results[0]);

  CHECK(!call("split", split, 2));
  CHECK_ERROR(PKG_TYPE_ERROR, "Hint: pkg_op_call()");
  pkg_tensor_delete(x);
}

static void wrong_calls_say_what_is_wrong(void) {
  const float values[] = {1, 2};
  pkg_tensor* x = vector(values, 2);
  CHECK(!pkg_op_find("no_such_op", status));
  CHECK_ERROR(PKG_LOOKUP_ERROR, "pkg::no_such_op");
  CHECK(!pkg_op_find("max.nope", status));
  CHECK_ERROR(PKG_LOOKUP_ERROR, "found the overloads: (none), dim");

  const pkg_arg text[] = {pkg_arg_tensor(NULL, x), pkg_arg_string("other", "two")};
  CHECK(!call("add", text, 2));
  CHECK_ERROR(PKG_TYPE_ERROR, "[add] expected a Tensor or a number for 'other', got str");
  CHECK(!call("add", text, 1));
  CHECK_ERROR(PKG_TYPE_ERROR, "add() missing required argument: 'other' (pos 2)");
  const pkg_arg unknown[] = {pkg_arg_tensor(NULL, x), pkg_arg_float("beta", 1)};
  CHECK(!call("add", unknown, 2));
  CHECK_ERROR(PKG_TYPE_ERROR, "unexpected keyword argument 'beta'");
  const pkg_arg twice[] = {pkg_arg_tensor(NULL, x), pkg_arg_tensor("self", x)};
  CHECK(!call("add", twice, 2));
  CHECK_ERROR(PKG_TYPE_ERROR, "multiple values for argument 'self'");
  const pkg_arg many[] = {pkg_arg_tensor(NULL, x), pkg_arg_tensor(NULL, x),
                          pkg_arg_float(NULL, 1)};
  CHECK(!call("add", many, 3));
  CHECK_ERROR(PKG_TYPE_ERROR, "add() takes 2 positional arguments but 3 were given");
  const pkg_arg late[] = {pkg_arg_tensor("self", x), pkg_arg_tensor(NULL, x)};
  CHECK(!call("add", late, 2));
  CHECK_ERROR(PKG_TYPE_ERROR, "positional argument follows the named 'self'");
  const pkg_arg null[] = {pkg_arg_tensor(NULL, x), pkg_arg_tensor(NULL, NULL)};
  CHECK(!call("add", null, 2));
  CHECK_ERROR(PKG_TYPE_ERROR, "expected a Tensor or a number for 'other', got NULL");
  const pkg_arg real[] = {pkg_arg_tensor(NULL, x), pkg_arg_float("dim", 0.5)};
  CHECK(!call("softmax", real, 2));
  CHECK_ERROR(PKG_TYPE_ERROR, "expected an int for 'dim', got float");

  const int64_t three = 3;
  pkg_tensor* longer = pkg_tensor_empty(&three, 1, PKG_FLOAT32, PKG_CPU, status);
  CHECK(!binary("add", x, longer));
  CHECK_ERROR(PKG_RUNTIME_ERROR, "2");
  pkg_tensor_delete(longer);
  pkg_tensor_delete(x);
}

static void ops_describe_themselves(void) {
  char text[64];
  const pkg_op* add = pkg_op_find("pkg::add", status);
  CHECK(add == pkg_op_find("add", status));
  CHECK(pkg_op_name(add, text, sizeof text) == 8 && strcmp(text, "pkg::add") == 0);
  const size_t whole = pkg_op_schema(add, text, 4);
  CHECK(whole > 4 && strcmp(text, "add") == 0); /* cut, and terminated */
  CHECK(pkg_op_doc(add, NULL, 0) > 0);
  const pkg_op* first[2];
  CHECK(pkg_op_list(NULL, 0) > 100 && pkg_op_list(first, 2) > 100 && first[1]);
}

/* ---- Autograd ---- */

static void gradients_are_computed(void) {
  const float values[] = {1, 2, 3};
  pkg_tensor* x = vector(values, 3);
  CHECK(pkg_tensor_set_requires_grad(x, true, status));
  CHECK(pkg_tensor_requires_grad(x));
  CHECK(!pkg_tensor_grad(x, status));
  CHECK_OK(); /* no gradient yet is no error */
  pkg_tensor* square = binary("mul", x, x);
  pkg_tensor* total = unary("sum", square);
  CHECK(pkg_backward(&total, NULL, 1, false, false, status));
  pkg_tensor* grad = pkg_tensor_grad(x, status);
  CHECK(at(grad, 0) == 2 && at(grad, 2) == 6);
  CHECK(!pkg_backward(&total, NULL, 1, false, false, status));
  CHECK_ERROR(PKG_RUNTIME_ERROR, "a second time");
  CHECK(!pkg_tensor_set_grad(x, total, status));
  CHECK_ERROR(PKG_RUNTIME_ERROR, "different size");
  CHECK(pkg_tensor_set_grad(x, NULL, status) && !pkg_tensor_grad(x, status));
  pkg_tensor_delete(grad);
  pkg_tensor_delete(total);

  pkg_tensor* unused = vector(values, 3);
  CHECK(pkg_tensor_set_requires_grad(unused, true, status));
  pkg_tensor *inputs[] = {x, unused}, *grads[2];
  pkg_tensor_delete(square);
  square = binary("mul", x, x);
  CHECK(!pkg_grad(&square, &x, 1, inputs, 2, true, false, false, grads, status));
  CHECK(pkg_status_code(status) != PKG_OK);
  CHECK(pkg_grad(&square, &x, 1, inputs, 2, false, false, true, grads, status));
  CHECK(at(grads[0], 1) == 8 && !grads[1]);
  pkg_tensor_delete(grads[0]);
  pkg_tensor_delete(square);

  CHECK(pkg_grad_enabled() && pkg_set_grad_enabled(false));
  square = binary("mul", x, x);
  CHECK(!pkg_tensor_requires_grad(square) && !pkg_set_grad_enabled(true));
  pkg_tensor_delete(square);

  square = binary("mul", x, x);
  total = unary("sum", square);
  pkg_tensor_mutable_data(x, status); /* the saved value may have changed */
  CHECK(!pkg_backward(&total, NULL, 1, false, false, status));
  CHECK_ERROR(PKG_RUNTIME_ERROR, "modified by an inplace operation");
  pkg_tensor_delete(total);
  pkg_tensor_delete(square);

  const int64_t n = 1;
  pkg_tensor* ints = pkg_tensor_empty(&n, 1, PKG_INT64, PKG_CPU, status);
  CHECK(!pkg_tensor_set_requires_grad(ints, true, status));
  CHECK_ERROR(PKG_RUNTIME_ERROR, "int64");
  pkg_tensor_delete(ints);
  pkg_tensor_delete(unused);
  pkg_tensor_delete(x);
}

/* ---- Ops written here ---- */

/* y = x^3, with its gradient by other ops. */
static void cube(void* user_data, const pkg_value* args, int32_t n_args,
                 pkg_tensor* const* results, int32_t n_results, pkg_status* error) {
  const float* x = pkg_tensor_data(args[0].as.tensor, error);
  float* y = pkg_tensor_mutable_data(results[0], error);
  for (int64_t i = 0; i < pkg_tensor_numel(results[0]); ++i) y[i] = x[i] * x[i] * x[i];
  ++*(int*)user_data;
  (void)n_args, (void)n_results;
}

static void cube_gradient(void* user_data, const pkg_value* args, int32_t n_args,
                          pkg_tensor* const* results, pkg_tensor* const* grads,
                          int32_t n_results, pkg_tensor** input_grads, int32_t n_inputs,
                          pkg_status* error) {
  const pkg_arg square[] = {
      args[0].as.tensor ? pkg_arg_tensor(NULL, args[0].as.tensor) : pkg_arg_none(NULL),
      pkg_arg_int(NULL, 2)};
  pkg_tensor* power = pkg_op_call_tensor(pkg_op_find("pow", error), square, 2, error);
  const pkg_arg times[] = {pkg_arg_tensor(NULL, power), pkg_arg_int(NULL, 3)};
  pkg_tensor* slope = pkg_op_call_tensor(pkg_op_find("mul", error), times, 2, error);
  const pkg_arg chain[] = {pkg_arg_tensor(NULL, slope), pkg_arg_tensor(NULL, grads[0])};
  input_grads[0] = pkg_op_call_tensor(pkg_op_find("mul", error), chain, 2, error);
  pkg_tensor_delete(power);
  pkg_tensor_delete(slope);
  (void)user_data, (void)n_args, (void)results, (void)n_results, (void)n_inputs;
}

static void an_op_of_our_own_is_called_and_differentiated(void) {
  int calls = 0; /* of this test; the op is not called after it */
  const pkg_op_definition definition = {.schema = "cube(Tensor self) -> Tensor",
                                        .doc = "Third power.",
                                        .compute = cube,
                                        .dtypes = "float32",
                                        .gradient = cube_gradient,
                                        .user_data = &calls};
  const pkg_op* op = pkg_register_op("ctest", &definition, status);
  CHECK(op && op == pkg_op_find("ctest::cube", status));
  const float values[] = {1, -2, 3};
  pkg_tensor* x = vector(values, 3);
  pkg_tensor_set_requires_grad(x, true, status);
  pkg_tensor* y = unary("ctest::cube", x);
  CHECK(at(y, 1) == -8 && at(y, 2) == 27 && calls == 1);

  pkg_tensor *ones = unary("ones_like", x), *first, *second;
  CHECK(pkg_grad(&y, &ones, 1, &x, 1, false, true, false, &first, status));
  CHECK(at(first, 1) == 12);
  CHECK(pkg_grad(&first, &ones, 1, &x, 1, false, false, false, &second, status));
  CHECK(at(second, 1) == -12); /* 6 x */

  const int64_t n = 1000;
  pkg_tensor* meta = pkg_tensor_empty(&n, 1, PKG_FLOAT32, PKG_META, status);
  pkg_tensor* shaped = unary("ctest::cube", meta);
  CHECK(pkg_tensor_device(shaped) == PKG_META && pkg_tensor_numel(shaped) == n);
  CHECK(calls == 1); /* shapes without data */

  CHECK(!pkg_register_op("ctest", &definition, status));
  CHECK_ERROR(PKG_RUNTIME_ERROR, "ctest::cube is already registered");
  pkg_tensor* all[] = {x, y, ones, first, second, meta, shaped};
  for (size_t i = 0; i < COUNT(all); ++i) pkg_tensor_delete(all[i]);
}

/* An op that was registered without a gradient gets one, with data of its own. */
static void scaled_gradient(void* user_data, const pkg_value* args, int32_t n_args,
                            pkg_tensor* const* results, pkg_tensor* const* grads,
                            int32_t n_results, pkg_tensor** input_grads, int32_t n_inputs,
                            pkg_status* error) {
  const pkg_arg product[] = {pkg_arg_tensor(NULL, grads[0]),
                             pkg_arg_float(NULL, *(double*)user_data)};
  if (n_args == 1 && n_results == 1 && n_inputs == 1 && args[0].as.tensor && results[0]) {
    input_grads[0] = pkg_op_call_tensor(pkg_op_find("mul", error), product, 2, error);
  }
}

static void an_op_gets_its_gradient_later(void) {
  static int calls = 0;
  static double factor = 7;
  const pkg_op_definition definition = {.schema = "bare(Tensor self) -> Tensor",
                                        .compute = cube,
                                        .dtypes = "float32",
                                        .user_data = &calls};
  const pkg_op* op = pkg_register_op("ctest", &definition, status);
  const float values[] = {1, 2};
  pkg_tensor* x = vector(values, 2);
  pkg_tensor_set_requires_grad(x, true, status);
  const pkg_arg args[] = {pkg_arg_tensor(NULL, x)};
  CHECK(!pkg_op_call_tensor(op, args, 1, status));
  CHECK_ERROR(PKG_NOT_IMPLEMENTED_ERROR, "[bare] has no gradient formula");
  CHECK(!pkg_register_gradient(op, NULL, NULL, status));
  CHECK_ERROR(PKG_TYPE_ERROR, "expected a gradient callback, got NULL");
  CHECK(!pkg_register_gradient(NULL, scaled_gradient, NULL, status));
  CHECK_ERROR(PKG_TYPE_ERROR, "expected an op, got NULL");

  CHECK(pkg_register_gradient(op, scaled_gradient, &factor, status));
  pkg_tensor *y = pkg_op_call_tensor(op, args, 1, status), *ones = unary("ones_like", x);
  CHECK(pkg_backward(&y, &ones, 1, false, false, status));
  pkg_tensor* grad = pkg_tensor_grad(x, status);
  CHECK(at(grad, 0) == 7 && at(grad, 1) == 7);

  CHECK(!pkg_register_gradient(op, scaled_gradient, &factor, status));
  CHECK_ERROR(PKG_VALUE_ERROR, "already, given at pkg_register_gradient.");
  CHECK(!pkg_register_gradient(pkg_op_find("ctest::cube", status), scaled_gradient, &factor,
                               status));
  CHECK_ERROR(PKG_VALUE_ERROR, "already, given at pkg_register_op.");
  pkg_tensor* all[] = {x, y, ones, grad};
  for (size_t i = 0; i < COUNT(all); ++i) pkg_tensor_delete(all[i]);
}

/* Splits into sums and differences of neighbours, scaled: two results, a shape rule of
 * our own, and every kind of parameter to look at. */
static void pairs_shape(void* user_data, const pkg_value* args, int32_t n_args,
                        pkg_specs* specs, pkg_status* error) {
  const int64_t half = pkg_tensor_numel(args[0].as.tensor) / 2;
  if (pkg_tensor_numel(args[0].as.tensor) % 2) {
    pkg_status_set(error, PKG_VALUE_ERROR, "expected an even number of elements");
    return;
  }
  pkg_specs_set(specs, 0, &half, 1, PKG_FLOAT32, error);
  if (user_data) pkg_specs_set(specs, 1, &half, 1, PKG_FLOAT64, error);
  (void)n_args;
}

static void pairs(void* user_data, const pkg_value* args, int32_t n_args,
                  pkg_tensor* const* results, int32_t n_results, pkg_status* error) {
  const float* x = pkg_tensor_data(args[0].as.tensor, error);
  float* sums = pkg_tensor_mutable_data(results[0], error);
  double* differences = pkg_tensor_mutable_data(results[1], error);
  const bool fits = n_args == 7 && n_results == 2 && args[1].kind == PKG_KIND_FLOAT &&
                    args[2].kind == PKG_KIND_INT && args[3].kind == PKG_KIND_STRING &&
                    args[4].kind == PKG_KIND_INT_LIST && args[4].length == 2 &&
                    args[5].kind == PKG_KIND_NONE;
  const double* offsets = args[6].kind == PKG_KIND_FLOAT_LIST ? args[6].as.numbers : NULL;
  if (!fits || strcmp(args[3].as.string, "both") != 0) {
    pkg_status_set(error, PKG_KEY_ERROR, "the defaults did not arrive");
    return;
  }
  for (int64_t i = 0; i < pkg_tensor_numel(results[0]); ++i) {
    sums[i] = (float)args[1].as.number * (x[2 * i] + x[2 * i + 1]);
    if (offsets) sums[i] += (float)offsets[i];
    differences[i] = (double)args[2].as.integer * (x[2 * i] - x[2 * i + 1]);
  }
  (void)user_data;
}

static void a_rule_of_our_own_gives_two_results(void) {
  static int wanted = 1;
  pkg_op_definition definition = {
      .schema = "pairs(Tensor self, float scale=0.5, int sign=-1, str which='both', "
                "int[] extra=[1, 2], Tensor? weight=None, float[]? offsets=None) "
                "-> (Tensor, Tensor)",
      .shape = pairs_shape,
      .compute = pairs,
      .dtypes = "float32, weight: any",
      .user_data = &wanted};
  const pkg_op* op = pkg_register_op("ctest", &definition, status);
  CHECK_OK();
  const float values[] = {1, 2, 3, 5};
  pkg_tensor* x = vector(values, 4);
  const pkg_arg args[] = {pkg_arg_tensor("self", x), pkg_arg_int("sign", 2)};
  pkg_value results[PKG_MAX_RESULTS];
  CHECK(pkg_op_call(op, args, 2, results, status) == 2);
  CHECK(at(results[0].as.tensor, 1) == 4);
  CHECK(((const double*)pkg_tensor_data(results[1].as.tensor, status))[1] == -4);
  pkg_value_clear(&results[0]);
  pkg_value_clear(&results[1]);

  const double offsets[] = {0.5, -1.5};
  const pkg_arg moved[] = {pkg_arg_tensor("self", x),
                           pkg_arg_floats("offsets", offsets, 2)};
  CHECK(pkg_op_call(op, moved, 2, results, status) == 2);
  CHECK(at(results[0].as.tensor, 0) == 2 && at(results[0].as.tensor, 1) == 2.5);
  pkg_value_clear(&results[0]);
  pkg_value_clear(&results[1]);

  const pkg_arg other[] = {pkg_arg_tensor("self", x), pkg_arg_string("which", "none")};
  CHECK(pkg_op_call(op, other, 2, results, status) == -1);
  CHECK_ERROR(PKG_KEY_ERROR, "the defaults did not arrive");
  pkg_tensor* odd = vector(values, 3);
  const pkg_arg uneven[] = {pkg_arg_tensor(NULL, odd)};
  CHECK(pkg_op_call(op, uneven, 1, results, status) == -1);
  CHECK_ERROR(PKG_VALUE_ERROR, "expected an even number of elements");

  pkg_tensor_set_requires_grad(x, true, status);
  CHECK(pkg_op_call(op, args, 2, results, status) == -1);
  CHECK_ERROR(PKG_NOT_IMPLEMENTED_ERROR, "no gradient formula");
  pkg_tensor_set_requires_grad(x, false, status);

  definition.schema = "half_pairs(Tensor self) -> (Tensor, Tensor)";
  definition.dtypes = "float32";
  definition.user_data = NULL; /* the rule then forgets the second result */
  op = pkg_register_op("ctest", &definition, status);
  CHECK(pkg_op_call(op, args, 1, results, status) == -1);
  CHECK_ERROR(PKG_RUNTIME_ERROR, "did not set result 1 of 2");
  pkg_tensor_delete(odd);
  pkg_tensor_delete(x);
}

static void wrong_definitions_are_refused(void) {
  const struct {
    const char* schema;
    const char* text;
  } wrong[] = {
      {"f(Tensor self -> Tensor", "<--- HERE"},
      {"f(Tensor self) -> int", "expected each result to be a Tensor, got int"},
      {"f(Tensor self) -> ()", "expected 1 to 8 results, got 0"},
      {"f(Tensor(a!) self) -> Tensor", "expected no parameter that is written to"},
      {"f(int n) -> Tensor", "or a shape callback"},
  };
  for (size_t i = 0; i < COUNT(wrong); ++i) {
    const pkg_op_definition definition = {.schema = wrong[i].schema, .compute = cube};
    CHECK(!pkg_register_op("ctest", &definition, status));
    CHECK_ERROR(PKG_VALUE_ERROR, wrong[i].text);
  }
  const pkg_op_definition empty = {.schema = "f(Tensor self) -> Tensor"};
  CHECK(!pkg_register_op("ctest", &empty, status));
  CHECK_ERROR(PKG_VALUE_ERROR, "expected a compute callback, got NULL");
  const struct {
    const char* dtypes;
    const char* text;
  } domains[] = {
      {NULL, "expected the dtypes that compute takes, got NULL"},
      {"", "expected the dtypes that compute takes, got none"},
      {"float32 quaternion", "got 'quaternion'. Hint: \"float32\""},
      {"other: float32", "expected a parameter of f(Tensor self) -> Tensor before ':'"},
  };
  for (size_t i = 0; i < COUNT(domains); ++i) {
    const pkg_op_definition definition = {
        .schema = "f(Tensor self) -> Tensor", .compute = cube, .dtypes = domains[i].dtypes};
    CHECK(!pkg_register_op("ctest", &definition, status));
    CHECK_ERROR(PKG_VALUE_ERROR, domains[i].text);
  }
  CHECK(!pkg_register_op("ctest", NULL, status) && !pkg_op_find("ctest::f", NULL));
}

static void a_kernel_can_be_replaced(void) {
  static int calls = 0;
  const float values[] = {2, 3};
  pkg_tensor* x = vector(values, 2);
  const pkg_op* op = pkg_op_find("erf", status);
  const pkg_op_definition kernel = {
      .compute = cube, .dtypes = "float32", .user_data = &calls};
  CHECK(pkg_register_kernel(op, &kernel, status));
  pkg_tensor* y = unary("erf", x);
  CHECK(at(y, 1) == 27 && calls == 1);
  CHECK(!pkg_register_kernel(pkg_op_find("reshape", NULL), &kernel, status));
  CHECK_ERROR(PKG_VALUE_ERROR, "shape rule");
  CHECK(!pkg_register_kernel(op, NULL, status));
  CHECK_ERROR(PKG_TYPE_ERROR, "a compute callback, got NULL");

  /* What the new kernel does not take is refused before it runs. */
  const double wide[] = {2, 3};
  const int64_t n = 2;
  pkg_tensor* d = pkg_tensor_from_data(wide, &n, 1, PKG_FLOAT64, status);
  const pkg_arg args[] = {pkg_arg_tensor(NULL, d)};
  CHECK(!pkg_op_call_tensor(op, args, 1, status) && calls == 1);
  CHECK_ERROR(PKG_NOT_IMPLEMENTED_ERROR, "[erf] expected float32 tensors, got float64");
  pkg_tensor_delete(d);
  pkg_tensor_delete(y);
  pkg_tensor_delete(x);
}

static void libraries_are_loaded_or_explained(void) {
  CHECK(!pkg_load_library("/nowhere/libnothing.so", status));
  CHECK_ERROR(PKG_IMPORT_ERROR, "/nowhere/libnothing.so");
}

/* ---- Threads ---- */

static void threads_are_counted_and_waited_for(void) {
  CHECK(pkg_set_num_threads(2, status) && pkg_num_threads() == 2);
  CHECK(!pkg_set_num_threads(0, status));
  CHECK(pkg_status_code(status) != PKG_OK);
  const bool before = pkg_async_enabled();
  pkg_set_async(true);
  const int64_t n = 1 << 20;
  pkg_tensor* x = pkg_tensor_empty(&n, 1, PKG_FLOAT32, PKG_CPU, status);
  const pkg_arg fill[] = {pkg_arg_tensor(NULL, x), pkg_arg_int(NULL, 1)};
  pkg_tensor* y = call("full_like", fill, 2);
  for (int i = 0; i < 10; ++i) { /* pending or not, the value is right */
    pkg_tensor* next = binary("add", y, y);
    pkg_tensor_delete(y);
    y = next;
  }
  CHECK(at(y, n - 1) == 1024);
  CHECK(pkg_synchronize(status) && pkg_pending_tasks() == 0);
  pkg_set_async(before);
  pkg_tensor_delete(y);
  pkg_tensor_delete(x);
}

/* ---- Collectives ---- */

/* A world of one rank needs no MPI.  Results are pending. */
static void collectives_are_ops_like_others(void) {
  pkg_tensor* const place = call("horovod::init", NULL, 0);
  CHECK_OK();
  CHECK(pkg_tensor_wait(place, status));
  const int64_t* const numbers = pkg_tensor_data(place, status);
  CHECK(numbers && numbers[0] == 0 && numbers[1] == 1);
  const float values[] = {1, 2};
  pkg_tensor* const x = vector(values, 2);
  const pkg_arg args[] = {pkg_arg_tensor(NULL, x), pkg_arg_string("name", "of C"),
                          pkg_arg_float("postscale_factor", 0.5)};
  pkg_tensor* const half = call("horovod::allreduce", args, COUNT(args));
  CHECK(pkg_tensor_wait(half, status) && at(half, 0) == 0.5f && at(half, 1) == 1);
  pkg_tensor* const rows = call("horovod::allgather", args, 2);
  CHECK(pkg_tensor_wait(rows, status) && at(rows, 1) == 2);
  pkg_tensor* const ended = call("horovod::shutdown", NULL, 0);
  CHECK(pkg_tensor_wait(ended, status));
  pkg_tensor* const late = call("horovod::allreduce", args, COUNT(args));
  CHECK(!late && pkg_status_code(status) != PKG_OK);
  pkg_tensor* const made[] = {place, x, half, rows, ended};
  for (size_t i = 0; i < COUNT(made); ++i) pkg_tensor_delete(made[i]);
}

int main(void) {
  static const struct {
    const char* name;
    void (*run)(void);
  } tests[] = {
#define TEST(name) {#name, name}
      TEST(version_and_codes),
      TEST(null_handles_are_errors),
      TEST(tensors_are_made_and_described),
      TEST(wrong_descriptions_are_refused),
      TEST(borrowed_memory_is_shared_and_given_back_once),
      TEST(every_kind_of_attribute_reaches_its_op),
      TEST(several_results_come_back),
      TEST(wrong_calls_say_what_is_wrong),
      TEST(ops_describe_themselves),
      TEST(gradients_are_computed),
      TEST(an_op_of_our_own_is_called_and_differentiated),
      TEST(an_op_gets_its_gradient_later),
      TEST(a_rule_of_our_own_gives_two_results),
      TEST(wrong_definitions_are_refused),
      TEST(a_kernel_can_be_replaced),
      TEST(libraries_are_loaded_or_explained),
      TEST(threads_are_counted_and_waited_for),
      TEST(collectives_are_ops_like_others),
  };
  int bad = 0;
  status = pkg_status_new();
  for (size_t i = 0; i < COUNT(tests); ++i) {
    const int64_t live = pkg_live_tensors();
    failures = 0;
    tests[i].run();
    CHECK(pkg_live_tensors() == live); /* every test gives back what it made */
    printf("%s %s\n", failures ? "FAIL" : "ok  ", tests[i].name);
    bad += failures != 0;
  }
  printf("%d passed, %d failed\n", (int)COUNT(tests) - bad, bad);
  pkg_status_delete(status);
  return bad != 0;
}
