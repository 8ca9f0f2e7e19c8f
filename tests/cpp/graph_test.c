/* SPDX-License-Identifier: Apache-2.0 */
/* tests/cpp/graph_test.c: a program in C11 that builds, differentiates and runs a graph. */
#include "c_api/c_api.h"

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

static pkg_tensor* vector(float a, float b, float c) {
  const float values[] = {a, b, c};
  const int64_t n = 3;
  return pkg_tensor_from_data(values, &n, 1, PKG_FLOAT32, status);
}

static int holds(pkg_tensor* tensor, float a, float b, float c) {
  float values[3] = {0, 0, 0};
  const float wanted[] = {a, b, c};
  return pkg_tensor_copy_out(tensor, values, sizeof values, status) &&
         memcmp(values, wanted, sizeof values) == 0;
}

static pkg_tensor* call(const char* name, pkg_tensor* a, pkg_tensor* b) {
  const pkg_arg args[] = {pkg_arg_tensor(NULL, a), pkg_arg_tensor(NULL, b)};
  return pkg_op_call_tensor(pkg_op_find(name, status), args, b ? 2 : 1, status);
}

static pkg_tensor* output(const pkg_operation* operation) {
  return pkg_operation_output(operation, 0, status);
}

/* y = sum(x * x * w), its gradient, a step of w, errors, and ends in any order. */
static void builds_and_runs(void) {
  const int64_t unknown = -1, three = 3;
  pkg_graph* graph = pkg_graph_new(status);
  pkg_operation* fed = pkg_graph_placeholder(graph, "x", PKG_FLOAT32, &unknown, 1, NULL,
                                             status);
  pkg_operation* kept = pkg_graph_variable(graph, "w", PKG_FLOAT32, &three, 1, status);
  pkg_tensor *x = output(fed), *w = output(kept);
  pkg_tensor* square = call("mul", x, x);
  pkg_tensor* product = call("mul", square, w);
  pkg_tensor* y = call("sum", product, NULL);
  pkg_operation* gradients = pkg_graph_gradients(graph, NULL, &y, NULL, 1, &x, 1, NULL, 0,
                                                 status);
  pkg_tensor* grad = output(gradients);
  pkg_tensor* sum = call("add", w, w);
  pkg_operation* doubled = pkg_graph_assign(graph, "double", kept, sum, status);
  CHECK(grad && doubled && pkg_graph_connected(graph, y, x, NULL, 0, status));

  char text[64];
  int64_t size = 0;
  CHECK(pkg_operation_name(fed, text, sizeof text) == 1 && strcmp(text, "x") == 0);
  CHECK(pkg_operation_type(kept, text, sizeof text) && strcmp(text, "Variable") == 0);
  CHECK(pkg_operation_output_shape(fed, 0, &size, 1, status) == 1 && size == -1);
  CHECK(pkg_operation_output_shape(fed, 1, &size, 1, status) == -2);
  CHECK_ERROR(PKG_INDEX_ERROR, "expected an output below 1");
  CHECK(pkg_tensor_operation(y, NULL) && pkg_graph_find(graph, "double") == doubled);
  CHECK(!pkg_graph_find(graph, "nothing"));
  CHECK(!pkg_tensor_data(y, status));
  CHECK_ERROR(PKG_TYPE_ERROR, "symbol of a graph");

  pkg_session* session = pkg_session_new(graph, status);
  pkg_tensor *value = vector(1, 2, 3), *ones = vector(1, 1, 1);
  pkg_tensor* found[2] = {NULL, NULL};
  pkg_tensor* const fetches[] = {y, grad};
  CHECK(!pkg_session_run(session, &x, &value, 1, fetches, 2, NULL, 0, found, status));
  CHECK_ERROR(PKG_RUNTIME_ERROR, "uninitialized value w");
  CHECK(pkg_session_set_variables(session, &kept, &ones, 1, status));
  CHECK(pkg_session_run(session, &x, &value, 1, fetches, 2, NULL, 0, found, status));
  CHECK(holds(found[1], 2, 4, 6));
  pkg_tensor_delete(found[0]);
  pkg_tensor_delete(found[1]);

  CHECK(!pkg_session_run(session, NULL, NULL, 0, fetches, 1, NULL, 0, found, status));
  CHECK_ERROR(PKG_VALUE_ERROR, "must feed a value for placeholder tensor 'x'");
  pkg_operation* failed = pkg_failed_operation();
  CHECK(failed == fed);

  pkg_callable* step = pkg_session_make_callable(session, NULL, 0, NULL, 0, &doubled, 1,
                                                 status);
  for (int i = 0; i < 3; ++i) CHECK(pkg_callable_run(step, NULL, 0, 0, NULL, status));
  pkg_tensor* now = pkg_session_variable(session, kept, status);
  CHECK(holds(now, 8, 8, 8));
  CHECK(pkg_callable_unplanned(step, text, sizeof text) == 0);
  pkg_tensor_delete(now);

  CHECK(pkg_graph_finalize(graph, status));
  CHECK(!call("mul", x, x));
  CHECK_ERROR(PKG_RUNTIME_ERROR, "Graph is finalized");

  pkg_graph_delete(graph);
  CHECK(pkg_session_close(session, status));
  CHECK(!pkg_callable_run(step, NULL, 0, 0, NULL, status));
  CHECK_ERROR(PKG_RUNTIME_ERROR, "closed Session");
  pkg_session_delete(session);
  pkg_callable_delete(step);
  pkg_tensor* const all[] = {x, w, square, product, y, grad, sum, value, ones};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) pkg_tensor_delete(all[i]);
}

/* NULL and foreign handles are errors, and nothing happens. */
static void refuses_what_is_wrong(void) {
  pkg_graph *graph = pkg_graph_new(status), *other = pkg_graph_new(status);
  const int64_t bad = -2;
  CHECK(!pkg_graph_placeholder(NULL, NULL, PKG_FLOAT32, NULL, -1, NULL, status));
  CHECK_ERROR(PKG_TYPE_ERROR, "expected a graph, got NULL");
  CHECK(!pkg_graph_placeholder(graph, NULL, PKG_FLOAT32, &bad, 1, NULL, status));
  CHECK_ERROR(PKG_VALUE_ERROR, "got -2");
  CHECK(!pkg_graph_placeholder(graph, NULL, PKG_FLOAT32, NULL, 2, NULL, status));
  CHECK_ERROR(PKG_TYPE_ERROR, "expected 2 sizes, got NULL");
  CHECK(!pkg_session_new(NULL, status));
  CHECK(!pkg_callable_run(NULL, NULL, 0, 0, NULL, status));
  CHECK(!pkg_session_make_callable(NULL, NULL, 0, NULL, 0, NULL, 0, status));
  CHECK(!pkg_graph_gradients(graph, NULL, NULL, NULL, 0, NULL, 0, NULL, 0, status));
  pkg_tensor* x = output(
      pkg_graph_placeholder(other, "x", PKG_FLOAT32, NULL, -1, NULL, status));
  pkg_session* session = pkg_session_new(graph, status);
  CHECK(!pkg_session_make_callable(session, &x, 1, NULL, 0, NULL, 0, status));
  CHECK_ERROR(PKG_VALUE_ERROR, "is not an element of this graph");
  CHECK(!pkg_graph_end_trace(graph, status));
  CHECK(pkg_graph_version(graph) == 0 && pkg_graph_version(NULL) == -1);
  CHECK(pkg_graph_operations(NULL, NULL, 0) == 0 && !pkg_graph_find(NULL, "x"));
  CHECK(pkg_operation_name(NULL, NULL, 0) == 0 && !pkg_tensor_operation(NULL, NULL));
  pkg_session_delete(session);
  pkg_session_delete(NULL);
  pkg_callable_delete(NULL);
  pkg_graph_delete(NULL);
  pkg_tensor_delete(x);
  pkg_graph_delete(other);
  pkg_graph_delete(graph);
}

/* The arguments of an operation, symbols and tensors with values. */
static void says_its_arguments(void) {
  pkg_graph* graph = pkg_graph_new(status);
  pkg_tensor* x = output(
      pkg_graph_placeholder(graph, "x", PKG_FLOAT32, NULL, -1, NULL, status));
  pkg_tensor *ones = vector(1, 1, 1), *sum = call("add", ones, x);
  const pkg_operation* add = pkg_tensor_operation(sum, NULL);
  const char* wanted =
      "[[\"self\", {\"tensor\": 0}], [\"other\", {\"input\": 0}], [\"alpha\", 1]]";
  char text[128];
  CHECK(pkg_operation_arguments(add, text, sizeof text) == strlen(wanted));
  CHECK(strcmp(text, wanted) == 0);
  pkg_tensor* found = NULL;
  CHECK(pkg_operation_tensors(add, NULL, 0) == 1);
  CHECK(pkg_operation_tensors(add, &found, 1) == 1 && holds(found, 1, 1, 1));
  CHECK(pkg_operation_arguments(NULL, text, sizeof text) == 0);
  CHECK(pkg_operation_tensors(NULL, &found, 1) == 0);
  pkg_tensor* const all[] = {x, ones, sum, found};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) pkg_tensor_delete(all[i]);
  pkg_graph_delete(graph);
}

/* A scope ends with its graph: a new one at the same address knows nothing of it. */
static void scopes_end_with_their_graph(void) {
  for (int i = 0; i < 8; ++i) {
    pkg_graph* graph = pkg_graph_new(status);
    pkg_operation* first = pkg_graph_group(graph, "first", NULL, 0, status);
    char text[32];
    CHECK(pkg_operation_name(first, text, sizeof text) && strcmp(text, "first") == 0);
    CHECK(pkg_operation_controls(first, NULL, 0) == 0);
    CHECK(pkg_graph_set_scope(graph, "a/", &first, 1, NULL, status));
    pkg_operation* second = pkg_graph_group(graph, "second", NULL, 0, status);
    CHECK(pkg_operation_name(second, text, sizeof text) && strcmp(text, "a/second") == 0);
    CHECK(pkg_operation_controls(second, NULL, 0) == 1);
    pkg_graph_delete(graph);
  }
}

/* What a condition or a body of the loop below is built of. */
static pkg_body body_of(pkg_graph* graph, pkg_tensor** input, pkg_tensor** result) {
  const pkg_body body = {graph, input, 1, result, 1, NULL, 0};
  return body;
}

static int calls = 0, destroyed = 0;
static bool plus_one(void* data, pkg_tensor* const* inputs, size_t n_inputs,
                     pkg_tensor** outputs, size_t n_outputs, pkg_status* failed) {
  float values[3];
  ++calls;
  if (n_inputs != 1 || n_outputs != 1 ||
      !pkg_tensor_copy_out(inputs[0], values, sizeof values, failed)) {
    return false;
  }
  if (values[0] < 0) {
    pkg_status_set(failed, PKG_VALUE_ERROR, "expected no negative value");
    return false;
  }
  outputs[0] = vector(values[0] + 1, values[1] + 1, values[2] + *(float*)data);
  return true;
}
static void count_destroyed(void* data) { destroyed += data != NULL; }

/* while (sum(y) < 100) y = y * x, from ones; a choice; a function of C. */
static void loops_and_calls_back(void) {
  const int64_t three = 3;
  float one = 1;
  pkg_graph *graph = pkg_graph_new(status), *condition = pkg_graph_new(status),
            *body = pkg_graph_new(status);
  pkg_tensor* x = output(
      pkg_graph_placeholder(graph, "x", PKG_FLOAT32, &three, 1, NULL, status));
  pkg_tensor *ones = vector(1, 1, 1), *limit = vector(100, 100, 100);

  pkg_tensor* seen = output(
      pkg_graph_placeholder(condition, "y", PKG_FLOAT32, &three, 1, NULL, status));
  CHECK(pkg_graph_begin_body(condition, status));
  pkg_tensor *sum = call("sum", seen, NULL), *below = call("lt", sum, limit);
  pkg_tensor* holds_all = call("all", below, NULL);
  CHECK(pkg_graph_end_trace(condition, status));

  pkg_tensor* old = output(
      pkg_graph_placeholder(body, "y", PKG_FLOAT32, &three, 1, NULL, status));
  CHECK(pkg_graph_begin_body(body, status));
  pkg_tensor* next = call("mul", old, x); /* x is captured */
  CHECK(pkg_graph_end_trace(body, status));
  pkg_tensor* captured = pkg_graph_capture(body, x, status);
  CHECK(captured && captured != x);

  const pkg_body first = body_of(condition, &seen, &holds_all);
  const pkg_body second = body_of(body, &old, &next);
  pkg_operation* loop = pkg_graph_while(graph, "loop", &first, &second, &ones, 1, status);
  CHECK(loop);
  pkg_tensor* last = output(loop);
  CHECK(!pkg_graph_while(graph, NULL, &first, NULL, &ones, 1, status));
  CHECK_ERROR(PKG_TYPE_ERROR, "expected a body, got NULL");
  CHECK(!pkg_graph_while(graph, NULL, &first, &second, &ones, 0, status));
  CHECK_ERROR(PKG_VALUE_ERROR, "at least as many outputs");

  pkg_operation* called = pkg_graph_function(graph, "plus", plus_one, &one, count_destroyed,
                                             &last, 1, (pkg_dtype[]){PKG_FLOAT32}, 1,
                                             status);
  CHECK(called);
  pkg_tensor* result = output(called);
  pkg_session* session = pkg_session_new(graph, status);
  pkg_tensor *fed = vector(1, 2, 3), *found = NULL;
  CHECK(pkg_session_run(session, &x, &fed, 1, &result, 1, NULL, 0, &found, status));
  CHECK(holds(found, 2, 33, 244)); /* 1 + 32 + 243 is above 100 */
  CHECK(calls == 1);
  pkg_tensor_delete(found);
  found = NULL;
  pkg_tensor* negative = vector(-9, 9, 9);
  CHECK(
      !pkg_session_run(session, &last, &negative, 1, &result, 1, NULL, 0, &found, status));
  CHECK_ERROR(PKG_VALUE_ERROR, "expected no negative value");
  CHECK(found == NULL && pkg_failed_operation() == called);
  CHECK(pkg_session_run(session, &last, &fed, 1, &result, 1, NULL, 0, &found, status));
  CHECK(holds(found, 2, 3, 4) && pkg_failed_operation() == NULL);
  pkg_tensor_delete(found);

  pkg_tensor* owned[] = {x,   ones, limit, seen,     sum, below,    holds_all,
                         old, next, last,  captured, fed, negative, result};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; ++i) pkg_tensor_delete(owned[i]);
  pkg_session_delete(session);
  pkg_graph_delete(condition);
  pkg_graph_delete(body);
  pkg_graph_delete(graph);
}

int main(void) {
  status = pkg_status_new();
  const int64_t before = pkg_live_tensors();
  builds_and_runs();
  loops_and_calls_back();
  says_its_arguments();
  refuses_what_is_wrong();
  scopes_end_with_their_graph();
  /* The last run of this thread failed by itself: nothing is kept for it. */
  CHECK(pkg_live_tensors() == before);
  CHECK(destroyed == 1);
  pkg_status_delete(status);
  printf("%d failures\n", failures);
  return failures != 0;
}
