/* SPDX-License-Identifier: Apache-2.0 */
/* c_api/c_api.h: the runtime for C, and for every language that can call C.
 *
 * C11; no C++ type crosses this border and no exception leaves it.  Link with
 * libpkg_core.so.  docs/c_api.md is a tour with a program that runs.
 *
 * Errors.  A function that can fail takes a `pkg_status*` last, which may be NULL, and
 * leaves the outcome of this call in it.  It returns NULL, false or a negative number
 * when it failed, and has then done nothing.
 *
 * Ownership.  A function that returns `pkg_tensor*` gives the caller a reference, to be
 * ended with pkg_tensor_delete().  A handle passed in is borrowed for the call.
 *
 * Threads.  Every function may be called from every thread.  One status or one
 * tensor's description must not be changed by two threads at once.  Grad mode belongs
 * to the thread. */
#ifndef PKG_C_API_H_
#define PKG_C_API_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define PKG_C_API __attribute__((visibility("default")))
#else
#define PKG_C_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Version --------------------------------------------------------------------- */

/* Number of this interface: raised when a function, a struct or an enum value changes
 * its meaning.  Additions leave it as it is. */
#define PKG_C_ABI 3

/* PKG_C_ABI of the library that was loaded; compare it before any other call. */
PKG_C_API int32_t pkg_abi(void);
/* Version of the package, "0.1.0". */
PKG_C_API const char* pkg_version(void);

/* What pkg_load_library() compares with its own before it opens a library: one that was
 * compiled for another PKG_C_ABI is refused. */
#if defined(__GNUC__) && defined(__ELF__)
#define PKG_C_TEXT_(number) #number
#define PKG_C_STAMP_(number) "C interface " PKG_C_TEXT_(number)
__attribute__((section(".pkg_stamp"), used)) static const char pkg_c_stamp[] = PKG_C_STAMP_(
    PKG_C_ABI);
#endif

/* ---- Status ---------------------------------------------------------------------- */

/* The last value of each enum below makes every int32_t one of its values in C++ too:
 * wrong numbers are refused with an error instead of being undefined behaviour. */

/* One code for each error class of the runtime (base/error.h). */
typedef enum pkg_code {
  PKG_OK = 0,
  PKG_ERROR = 1, /* none of the below, such as an exception of a Python kernel */
  PKG_VALUE_ERROR = 2,
  PKG_TYPE_ERROR = 3,
  PKG_INDEX_ERROR = 4,
  PKG_KEY_ERROR = 5,
  PKG_LOOKUP_ERROR = 6,
  PKG_RUNTIME_ERROR = 7,
  PKG_NOT_IMPLEMENTED_ERROR = 8,
  PKG_OVERFLOW_ERROR = 9,
  PKG_BUFFER_ERROR = 10,
  PKG_IMPORT_ERROR = 11,
  PKG_OUT_OF_MEMORY_ERROR = 12,
  PKG_CANCELLED_ERROR = 13,
  PKG_INTERNAL_ERROR = 14,
  PKG_CODE_MAX = 0x7fffffff
} pkg_code;

typedef struct pkg_status pkg_status;

/* A status that says PKG_OK; NULL when memory ran out. */
PKG_C_API pkg_status* pkg_status_new(void);
PKG_C_API void pkg_status_delete(pkg_status* status);
PKG_C_API pkg_code pkg_status_code(const pkg_status* status);
/* Message of the last error, "" when there was none; valid until `status` changes. */
PKG_C_API const char* pkg_status_text(const pkg_status* status);
/* Reports an error from a callback.  `text` is copied. */
PKG_C_API void pkg_status_set(pkg_status* status, pkg_code code, const char* text);
/* Name of the error class, "ValueError"; NULL for a number that is no code. */
PKG_C_API const char* pkg_code_name(int32_t code);

/* ---- Tensors --------------------------------------------------------------------- */

typedef enum pkg_dtype {
  PKG_BOOL = 0,
  PKG_UINT8 = 1,
  PKG_INT8 = 2,
  PKG_INT32 = 3,
  PKG_INT64 = 4,
  PKG_FLOAT16 = 5,
  PKG_BFLOAT16 = 6,
  PKG_FLOAT32 = 7,
  PKG_FLOAT64 = 8,
  PKG_DTYPE_MAX = 0x7fffffff
} pkg_dtype;

typedef enum pkg_device {
  PKG_CPU = 0,
  PKG_META = 1, /* shape and dtype without data */
  PKG_DEVICE_MAX = 0x7fffffff
} pkg_device;

/* "float32", and bytes of one element; NULL and -1 for a number that is no dtype. */
PKG_C_API const char* pkg_dtype_name(int32_t dtype);
PKG_C_API int64_t pkg_dtype_size(int32_t dtype);

typedef struct pkg_tensor pkg_tensor;
/* Gives back a borrowed buffer; runs once, on the thread that drops the last tensor. */
typedef void (*pkg_release_fn)(void* context);

/* Uninitialised tensor. */
PKG_C_API pkg_tensor* pkg_tensor_empty(const int64_t* sizes, int32_t ndim, pkg_dtype dtype,
                                       pkg_device device, pkg_status* status);
/* Tensor with a copy of row-major `data`. */
PKG_C_API pkg_tensor* pkg_tensor_from_data(const void* data, const int64_t* sizes,
                                           int32_t ndim, pkg_dtype dtype,
                                           pkg_status* status);
/* Tensor over the caller's memory, not copied.  `strides` count elements, NULL means
 * row-major.  `release` (or NULL) is called with `context` once nothing uses the memory
 * any more; it is not called when this function fails. */
PKG_C_API pkg_tensor* pkg_tensor_borrow(void* data, const int64_t* sizes,
                                        const int64_t* strides, int32_t ndim,
                                        pkg_dtype dtype, pkg_release_fn release,
                                        void* context, pkg_status* status);
/* Another reference to the same tensor; returns it. */
PKG_C_API pkg_tensor* pkg_tensor_retain(pkg_tensor* tensor);
/* Ends a reference.  NULL is ignored. */
PKG_C_API void pkg_tensor_delete(pkg_tensor* tensor);

/* Description.  The arrays have `ndim` entries and live as long as the tensor.  NULL as
 * tensor gives -1, NULL or false. */
PKG_C_API int32_t pkg_tensor_ndim(const pkg_tensor* tensor);
PKG_C_API const int64_t* pkg_tensor_sizes(const pkg_tensor* tensor);
PKG_C_API const int64_t* pkg_tensor_strides(const pkg_tensor* tensor);
PKG_C_API int64_t pkg_tensor_numel(const pkg_tensor* tensor);
PKG_C_API int32_t pkg_tensor_dtype(const pkg_tensor* tensor);
PKG_C_API int32_t pkg_tensor_device(const pkg_tensor* tensor);
PKG_C_API bool pkg_tensor_is_contiguous(const pkg_tensor* tensor);

/* First element, to be read; waits for the work behind it and reports its error.  The
 * pointer lives as long as the tensor; what it shows is settled until the next op that
 * writes to the tensor or to a view of it. */
PKG_C_API const void* pkg_tensor_data(const pkg_tensor* tensor, pkg_status* status);
/* The same, to be written until the next op that uses the tensor: waits for readers
 * too, and counts as a change in place, so that a gradient which needed the old values
 * is refused instead of wrong. */
PKG_C_API void* pkg_tensor_mutable_data(pkg_tensor* tensor, pkg_status* status);
/* Copies the values, row-major whatever the strides, into `out` of `nbytes` bytes. */
PKG_C_API bool pkg_tensor_copy_out(const pkg_tensor* tensor, void* out, size_t nbytes,
                                   pkg_status* status);
/* Blocks until the values are there; reports the error of the work behind them. */
PKG_C_API bool pkg_tensor_wait(const pkg_tensor* tensor, pkg_status* status);
/* Whether pkg_tensor_data() would return at once. */
PKG_C_API bool pkg_tensor_is_ready(const pkg_tensor* tensor);
/* Tensors alive in the process, those that autograd keeps included. */
PKG_C_API int64_t pkg_live_tensors(void);

/* ---- Values ---------------------------------------------------------------------- */

typedef enum pkg_kind {
  PKG_KIND_NONE = 0,
  PKG_KIND_TENSOR = 1,
  PKG_KIND_TENSOR_LIST = 2, /* a NULL entry is None */
  PKG_KIND_BOOL = 3,
  PKG_KIND_INT = 4,
  PKG_KIND_FLOAT = 5,
  PKG_KIND_STRING = 6,
  PKG_KIND_INT_LIST = 7,
  PKG_KIND_FLOAT_LIST = 8,
  PKG_KIND_DTYPE = 9,
  PKG_KIND_DEVICE = 10,
  PKG_KIND_STRING_LIST = 11,
  PKG_KIND_BOOL_LIST = 12 /* of 0 and 1 */
} pkg_kind;

/* An argument or a result of an op.  As an argument it borrows what it points to. */
typedef struct pkg_value {
  int32_t kind;     /* a pkg_kind: which member of `as` counts */
  int32_t reserved; /* 0 */
  int64_t length;   /* of lists, and of strings in bytes (-1: up to the NUL) */
  union {
    int64_t integer; /* bool, int, dtype, device */
    double number;
    pkg_tensor* tensor;
    pkg_tensor* const* tensors;
    const char* string;
    const char* const* strings; /* each ends with a NUL */
    const int64_t* integers;    /* of lists of ints and of bools */
    const double* numbers;
  } as;
} pkg_value;

/* An argument of a call; `name` NULL makes it positional. */
typedef struct pkg_arg {
  const char* name;
  pkg_value value;
} pkg_arg;

/* Ends the references and frees the memory that a result owns; makes it None. */
PKG_C_API void pkg_value_clear(pkg_value* value);

/* ---- Ops ------------------------------------------------------------------------- */

typedef struct pkg_op pkg_op; /* lives as long as the process */

/* The op "add", "max.dim" or "myops::scale".  A name with several overloads means the
 * one without overload name. */
PKG_C_API const pkg_op* pkg_op_find(const char* name, pkg_status* status);
/* Writes up to `capacity` ops, sorted by name; returns how many there are. */
PKG_C_API size_t pkg_op_list(const pkg_op** ops, size_t capacity);
/* Name ("pkg::max.dim"), schema and documentation as text: writes up to `capacity`
 * bytes, NUL included; returns the length of the whole text. */
PKG_C_API size_t pkg_op_name(const pkg_op* op, char* text, size_t capacity);
PKG_C_API size_t pkg_op_schema(const pkg_op* op, char* text, size_t capacity);
PKG_C_API size_t pkg_op_doc(const pkg_op* op, char* text, size_t capacity);

/* Most results that one op has. */
#define PKG_MAX_RESULTS 8

/* Calls the op.  Positional arguments come first; parameters not given take the
 * schema's default.  Returns the number of results, written to `results` (room for
 * PKG_MAX_RESULTS, each to be ended with pkg_value_clear()), or -1.  Resulting tensors
 * may still be computed when it returns: pkg_tensor_data() waits. */
PKG_C_API int32_t pkg_op_call(const pkg_op* op, const pkg_arg* args, size_t n_args,
                              pkg_value* results, pkg_status* status);
/* The same for an op whose only result is a tensor. */
PKG_C_API pkg_tensor* pkg_op_call_tensor(const pkg_op* op, const pkg_arg* args,
                                         size_t n_args, pkg_status* status);

/* ---- Ops and kernels written in C ------------------------------------------------ */

typedef struct pkg_specs pkg_specs;

/* Sets shape and dtype of result `index`; to be called from a pkg_shape_fn. */
PKG_C_API bool pkg_specs_set(pkg_specs* specs, int32_t index, const int64_t* sizes,
                             int32_t ndim, pkg_dtype dtype, pkg_status* status);

/* The callbacks get one value for each parameter of the schema, defaults filled in, and
 * report errors with pkg_status_set().  They may run on any thread, several at once. */

/* Says what the results will be.  Must not read data. */
typedef void (*pkg_shape_fn)(void* user_data, const pkg_value* args, int32_t n_args,
                             pkg_specs* specs, pkg_status* status);
/* Computes into the given results, which are allocated and row-major.  Reads with
 * pkg_tensor_data(), writes with pkg_tensor_mutable_data(); neither waits here.  The
 * arguments are row-major unless the definition says `strided`, of the dtypes that were
 * declared, and share no memory with a result. */
typedef void (*pkg_compute_fn)(void* user_data, const pkg_value* args, int32_t n_args,
                               pkg_tensor* const* results, int32_t n_results,
                               pkg_status* status);
/* Gradients of the tensor arguments in order, each tensor of a list counted; an entry
 * left NULL has none.  `grads` belong to the results and may be NULL.  What is put into
 * `input_grads` is taken over.  Written with ops it can be differentiated again. */
typedef void (*pkg_gradient_fn)(void* user_data, const pkg_value* args, int32_t n_args,
                                pkg_tensor* const* results, pkg_tensor* const* grads,
                                int32_t n_results, pkg_tensor** input_grads,
                                int32_t n_inputs, pkg_status* status);

typedef struct pkg_op_definition {
  const char* schema; /* "scale(Tensor self, float factor=2) -> Tensor" */
  const char* doc;    /* or NULL */
  pkg_shape_fn shape; /* NULL: each result is like the first tensor */
  pkg_compute_fn compute;
  /* The dtypes that `compute` takes, others are refused: "float32"; "float32 float64",
   * one of them for all tensors of a call; "float32, index: int64", where the parameter
   * `index` has its own; "any" if it looks itself.  Also "integer", "floating". */
  const char* dtypes;
  bool strided; /* `compute` looks at pkg_tensor_strides(): arguments stay as they lie */
  pkg_gradient_fn gradient; /* NULL: an input that requires grad is refused */
  void* user_data;          /* for the three; must live as long as the process */
} pkg_op_definition;

/* Registers an op for the rest of the process; every binding sees it at once. */
PKG_C_API const pkg_op* pkg_register_op(const char* ns, const pkg_op_definition* definition,
                                        pkg_status* status);
/* Replaces the CPU kernel of an op that has a shape rule; the rule and the gradient
 * stay.  Of the definition, `compute`, `dtypes`, `strided` and `user_data` count. */
PKG_C_API bool pkg_register_kernel(const pkg_op* op, const pkg_op_definition* definition,
                                   pkg_status* status);
/* Gives an op that has none its gradient, for the rest of the process; an error if it has
 * one.  All arguments and results are saved for it. */
PKG_C_API bool pkg_register_gradient(const pkg_op* op, pkg_gradient_fn gradient,
                                     void* user_data, pkg_status* status);
/* Loads a library of ops, once in the process; a second load gives the outcome of the
 * first.  A C++ library registers by PKG_LIBRARY; a C one exports
 *   bool pkg_library_init(pkg_status* status);
 * which is called.  A library that fails registers nothing; its error is reported. */
PKG_C_API bool pkg_load_library(const char* path, pkg_status* status);

/* ---- Autograd -------------------------------------------------------------------- */

PKG_C_API bool pkg_tensor_requires_grad(const pkg_tensor* tensor);
PKG_C_API bool pkg_tensor_set_requires_grad(pkg_tensor* tensor, bool wanted,
                                            pkg_status* status);
/* The accumulated gradient; NULL without error when there is none. */
PKG_C_API pkg_tensor* pkg_tensor_grad(const pkg_tensor* tensor, pkg_status* status);
/* Replaces the accumulated gradient; NULL forgets it. */
PKG_C_API bool pkg_tensor_set_grad(pkg_tensor* tensor, pkg_tensor* grad,
                                   pkg_status* status);

/* Adds the gradients of the outputs to the leaves.  `grad_outputs` may be NULL, or have
 * NULL entries, for outputs of one element. */
PKG_C_API bool pkg_backward(pkg_tensor* const* outputs, pkg_tensor* const* grad_outputs,
                            size_t n_outputs, bool retain_graph, bool create_graph,
                            pkg_status* status);
/* Writes the gradients with respect to the inputs to `grads`; nothing is accumulated.
 * An input that was not used is an error, or NULL with `allow_unused`. */
PKG_C_API bool pkg_grad(pkg_tensor* const* outputs, pkg_tensor* const* grad_outputs,
                        size_t n_outputs, pkg_tensor* const* inputs, size_t n_inputs,
                        bool retain_graph, bool create_graph, bool allow_unused,
                        pkg_tensor** grads, pkg_status* status);

/* Whether this thread records operations for backward. */
PKG_C_API bool pkg_grad_enabled(void);
/* Switches it; returns what it was. */
PKG_C_API bool pkg_set_grad_enabled(bool enabled);

/* ---- Graphs ---------------------------------------------------------------------- */

/* A graph is calls of ops that run later.  Its tensors are symbols: they have a dtype and a
 * shape, perhaps with unknown sizes, and no values.  pkg_op_call() with a symbol adds an
 * operation to its graph; pkg_graph_call() does so where no argument is a symbol, too.
 * Operations are only ever added; they live as long as their graph and are not deleted.
 * `name` NULL or "" makes a name of the type; one that is taken gets "_1" behind it. */
typedef struct pkg_graph pkg_graph;
typedef struct pkg_operation pkg_operation;

PKG_C_API pkg_graph* pkg_graph_new(pkg_status* status);
/* Ends the reference; sessions and symbols keep the graph as long as they live. */
PKG_C_API void pkg_graph_delete(pkg_graph* graph);

/* What is fed; `value` (or NULL) counts where nothing is.  Sizes of -1 and an `ndim` of -1
 * are not known. */
PKG_C_API pkg_operation* pkg_graph_placeholder(pkg_graph* graph, const char* name,
                                               pkg_dtype dtype, const int64_t* sizes,
                                               int32_t ndim, pkg_tensor* value,
                                               pkg_status* status);
/* The values must not change later. */
PKG_C_API pkg_operation* pkg_graph_constant(pkg_graph* graph, const char* name,
                                            pkg_tensor* value, pkg_status* status);
/* Its value belongs to a session, and is there once it was assigned. */
PKG_C_API pkg_operation* pkg_graph_variable(pkg_graph* graph, const char* name,
                                            pkg_dtype dtype, const int64_t* sizes,
                                            int32_t ndim, pkg_status* status);
/* Gives the variable a value when it runs, which is also its output. */
PKG_C_API pkg_operation* pkg_graph_assign(pkg_graph* graph, const char* name,
                                          pkg_operation* variable, pkg_tensor* value,
                                          pkg_status* status);
PKG_C_API pkg_operation* pkg_graph_call(pkg_graph* graph, const char* name,
                                        const pkg_op* op, const pkg_arg* args,
                                        size_t n_args, pkg_status* status);
/* Sums of the gradients of the `ys` with respect to each of the `xs`, its outputs.
 * `grad_ys` may be NULL, or have NULL entries: ones.  Nothing flows on behind the `stops`. */
PKG_C_API pkg_operation* pkg_graph_gradients(pkg_graph* graph, const char* name,
                                             pkg_tensor* const* ys,
                                             pkg_tensor* const* grad_ys, size_t n_ys,
                                             pkg_tensor* const* xs, size_t n_xs,
                                             pkg_tensor* const* stops, size_t n_stops,
                                             pkg_status* status);
/* Has no output; running it runs the operations before. */
PKG_C_API pkg_operation* pkg_graph_group(pkg_graph* graph, const char* name,
                                         pkg_operation* const* before, size_t n,
                                         pkg_status* status);
/* What operations that this thread adds to the graph have from now on: what stands before
 * their names ("layer1/"), what they wait for, and their device.  NULL: nothing. */
PKG_C_API bool pkg_graph_set_scope(pkg_graph* graph, const char* prefix,
                                   pkg_operation* const* controls, size_t n_controls,
                                   const char* device, pkg_status* status);
/* From here to pkg_graph_end_trace() every op that this thread calls becomes an operation
 * of the graph, whatever its arguments; the first one, or what pkg_graph_capture() makes
 * first, gets `name`, unless NULL or "". */
PKG_C_API bool pkg_graph_begin_trace(pkg_graph* graph, const char* name,
                                     pkg_status* status);
PKG_C_API bool pkg_graph_end_trace(pkg_graph* graph, pkg_status* status);
/* The same for a graph that will be a body of a loop or a choice: ops become its operations
 * also where their arguments are symbols of the graph around it, which are captured.  Ends
 * by pkg_graph_end_trace(). */
PKG_C_API bool pkg_graph_begin_body(pkg_graph* body, pkg_status* status);
/* What stands in the body for a symbol of the graph around it, for what is no op: outputs,
 * variables that are assigned.  A new reference. */
PKG_C_API pkg_tensor* pkg_graph_capture(pkg_graph* body, pkg_tensor* symbol,
                                        pkg_status* status);
/* A graph as a part of another one: it takes values for the inputs, its placeholders, gives
 * the outputs, and runs the targets besides.  Nothing may be added to it later. */
typedef struct pkg_body {
  pkg_graph* graph;
  pkg_tensor* const* inputs;
  size_t n_inputs;
  pkg_tensor* const* outputs;
  size_t n_outputs;
  pkg_operation* const* targets;
  size_t n_targets;
} pkg_body;
/* While the condition gives true, the body gives the next values from the ones before; the
 * outputs are the last ones.  What the body gives beyond these is collected: an output for
 * each has the tensors of all turns, along a new first dimension. */
PKG_C_API pkg_operation* pkg_graph_while(pkg_graph* graph, const char* name,
                                         const pkg_body* condition, const pkg_body* body,
                                         pkg_tensor* const* values, size_t n_values,
                                         pkg_status* status);
/* The outputs of the one body or of the other one; both take nothing. */
PKG_C_API pkg_operation* pkg_graph_cond(pkg_graph* graph, const char* name,
                                        pkg_tensor* predicate, const pkg_body* if_true,
                                        const pkg_body* if_false, pkg_status* status);
/* Computes `outputs` (new references) from `inputs`, which are the caller's; false with a
 * status set when that failed.  Called by several threads at once. */
typedef bool (*pkg_function_fn)(void* user_data, pkg_tensor* const* inputs, size_t n_inputs,
                                pkg_tensor** outputs, size_t n_outputs, pkg_status* status);
/* Calls `run` with the values of the inputs; its outputs have these dtypes and shapes that
 * are not known.  No gradient flows through it.  `destroy` (or NULL) is called once, when
 * the operation is gone. */
PKG_C_API pkg_operation* pkg_graph_function(pkg_graph* graph, const char* name,
                                            pkg_function_fn run, void* user_data,
                                            void (*destroy)(void* user_data),
                                            pkg_tensor* const* inputs, size_t n_inputs,
                                            const pkg_dtype* dtypes, size_t n_outputs,
                                            pkg_status* status);
/* From now on adding operations is an error. */
PKG_C_API bool pkg_graph_finalize(pkg_graph* graph, pkg_status* status);
PKG_C_API bool pkg_graph_is_finalized(const pkg_graph* graph);
/* Counts the changes of the graph. */
PKG_C_API int64_t pkg_graph_version(const pkg_graph* graph);
/* The operation of a name; NULL if there is none. */
PKG_C_API pkg_operation* pkg_graph_find(pkg_graph* graph, const char* name);
/* Writes up to `capacity` operations, in the order in which they were added; returns how
 * many there are. */
PKG_C_API size_t pkg_graph_operations(pkg_graph* graph, pkg_operation** operations,
                                      size_t capacity);
/* A name that no operation has, which counts as taken from now on if `mark`. */
PKG_C_API size_t pkg_graph_unique_name(pkg_graph* graph, const char* name, bool mark,
                                       char* text, size_t capacity);
/* Whether `y` may have a gradient with respect to `x`, if none flows on behind the `stops`. */
PKG_C_API bool pkg_graph_connected(pkg_graph* graph, pkg_tensor* y, pkg_tensor* x,
                                   pkg_tensor* const* stops, size_t n_stops,
                                   pkg_status* status);

/* Texts as of pkg_op_name().  The site is "file:line" of the Python line that made it. */
PKG_C_API size_t pkg_operation_name(const pkg_operation* operation, char* text,
                                    size_t capacity);
PKG_C_API size_t pkg_operation_type(const pkg_operation* operation, char* text,
                                    size_t capacity);
PKG_C_API size_t pkg_operation_device(const pkg_operation* operation, char* text,
                                      size_t capacity);
PKG_C_API size_t pkg_operation_site(const pkg_operation* operation, char* text,
                                    size_t capacity);
PKG_C_API size_t pkg_operation_n_outputs(const pkg_operation* operation);
/* Whether it is a call that writes to tensors with values. */
PKG_C_API bool pkg_operation_writes(const pkg_operation* operation);
/* Whether it was added while gradients were off: none flows through it. */
PKG_C_API bool pkg_operation_no_grad(const pkg_operation* operation);
/* The symbol of an output; a new reference. */
PKG_C_API pkg_tensor* pkg_operation_output(const pkg_operation* operation, size_t index,
                                           pkg_status* status);
/* Writes up to `capacity` sizes, -1 for unknown ones; returns how many dimensions there
 * are, -1 if that is not known, -2 for an error. */
PKG_C_API int32_t pkg_operation_output_shape(const pkg_operation* operation, size_t index,
                                             int64_t* sizes, size_t capacity,
                                             pkg_status* status);
/* Symbols that it takes (new references), and operations that run before it. */
PKG_C_API size_t pkg_operation_inputs(const pkg_operation* operation, pkg_tensor** inputs,
                                      size_t capacity);
PKG_C_API size_t pkg_operation_controls(const pkg_operation* operation,
                                        pkg_operation** controls, size_t capacity);
/* Its arguments as JSON, see cpp/graph/describe.h: a list of [name, value].  Symbols are
 * {"input": i}, of pkg_operation_inputs(); tensors with values {"tensor": i}, of
 * pkg_operation_tensors() (new references). */
PKG_C_API size_t pkg_operation_arguments(const pkg_operation* operation, char* text,
                                         size_t capacity);
PKG_C_API size_t pkg_operation_tensors(const pkg_operation* operation, pkg_tensor** tensors,
                                       size_t capacity);
/* Not a new reference. */
PKG_C_API pkg_graph* pkg_operation_graph(const pkg_operation* operation);
/* The operation that a symbol is an output of; NULL for a tensor with values. */
PKG_C_API pkg_operation* pkg_tensor_operation(const pkg_tensor* tensor, size_t* index);

/* ---- Sessions -------------------------------------------------------------------- */

/* Runs parts of a graph; has the values of its variables.  Runs of several threads at once
 * are independent; those that assign to variables are one after the other. */
typedef struct pkg_session pkg_session;
/* What to feed and to fetch, looked up once. */
typedef struct pkg_callable pkg_callable;

PKG_C_API pkg_session* pkg_session_new(pkg_graph* graph, pkg_status* status);
/* Stops what runs; later runs are an error.  Closing again does nothing. */
PKG_C_API bool pkg_session_close(pkg_session* session, pkg_status* status);
/* Closes it and ends the reference. */
PKG_C_API void pkg_session_delete(pkg_session* session);
/* `feeds` and `fetches` are symbols, `targets` operations that run as well. */
PKG_C_API pkg_callable* pkg_session_make_callable(pkg_session* session,
                                                  pkg_tensor* const* feeds, size_t n_feeds,
                                                  pkg_tensor* const* fetches,
                                                  size_t n_fetches,
                                                  pkg_operation* const* targets,
                                                  size_t n_targets, pkg_status* status);
PKG_C_API void pkg_callable_delete(pkg_callable* callable);
/* Runs it; `feeds` are the values in the order of the symbols, `results` has room for the
 * fetches, which are new tensors.  `timeout` in seconds; 0: none. */
PKG_C_API bool pkg_callable_run(pkg_callable* callable, pkg_tensor* const* feeds,
                                size_t n_feeds, double timeout, pkg_tensor** results,
                                pkg_status* status);
/* Calls the operations one by one, with a history: results require gradients where calls of
 * pkg_op_call() would. */
PKG_C_API bool pkg_callable_run_recorded(pkg_callable* callable, pkg_tensor* const* feeds,
                                         size_t n_feeds, pkg_tensor** results,
                                         pkg_status* status);
/* Why the operations of the last run were called one by one, and not by a plan made before;
 * "" when there was a plan. */
PKG_C_API size_t pkg_callable_unplanned(const pkg_callable* callable, char* text,
                                        size_t capacity);
/* Both at once, for one run. */
PKG_C_API bool pkg_session_run(pkg_session* session, pkg_tensor* const* feeds,
                               pkg_tensor* const* values, size_t n_feeds,
                               pkg_tensor* const* fetches, size_t n_fetches,
                               pkg_operation* const* targets, size_t n_targets,
                               pkg_tensor** results, pkg_status* status);
/* The operation whose call failed in the last run of this thread; NULL if that went well, or
 * failed before its first call.  It stays valid until the next run of the thread. */
PKG_C_API pkg_operation* pkg_failed_operation(void);

/* The value of a variable, not to be written to; NULL without error if it has none. */
PKG_C_API pkg_tensor* pkg_session_variable(pkg_session* session,
                                           const pkg_operation* variable,
                                           pkg_status* status);
/* Gives all of these variables new values at once: a run sees all of them or none. */
PKG_C_API bool pkg_session_set_variables(pkg_session* session,
                                         pkg_operation* const* variables,
                                         pkg_tensor* const* values, size_t n,
                                         pkg_status* status);

/* ---- Threads and pending work ---------------------------------------------------- */

PKG_C_API int32_t pkg_num_threads(void);
PKG_C_API bool pkg_set_num_threads(int32_t n, pkg_status* status);
/* Whether ops may be scheduled and return before they have run. */
PKG_C_API bool pkg_async_enabled(void);
PKG_C_API void pkg_set_async(bool enabled);
PKG_C_API int64_t pkg_pending_tasks(void);
/* Waits for all work submitted so far; reports the first error nobody has seen. */
PKG_C_API bool pkg_synchronize(pkg_status* status);
/* Runs out the pending work for at most `seconds`, then ends the workers; false when
 * something had to be cancelled.  A host that unloads its callbacks calls it first. */
PKG_C_API bool pkg_shutdown(double seconds, pkg_status* status);

/* ---- Arguments by name, in one line ---------------------------------------------- */

static inline pkg_arg pkg_arg_none(const char* name) {
  pkg_arg arg;
  arg.name = name;
  arg.value.kind = PKG_KIND_NONE;
  arg.value.reserved = 0;
  arg.value.length = 0;
  arg.value.as.integer = 0;
  return arg;
}
static inline pkg_arg pkg_arg_tensor(const char* name, pkg_tensor* tensor) {
  pkg_arg arg = pkg_arg_none(name);
  arg.value.kind = PKG_KIND_TENSOR;
  arg.value.as.tensor = tensor;
  return arg;
}
static inline pkg_arg pkg_arg_tensors(const char* name, pkg_tensor* const* tensors,
                                      int64_t length) {
  pkg_arg arg = pkg_arg_none(name);
  arg.value.kind = PKG_KIND_TENSOR_LIST;
  arg.value.length = length;
  arg.value.as.tensors = tensors;
  return arg;
}
static inline pkg_arg pkg_arg_bool(const char* name, bool value) {
  pkg_arg arg = pkg_arg_none(name);
  arg.value.kind = PKG_KIND_BOOL;
  arg.value.as.integer = value;
  return arg;
}
static inline pkg_arg pkg_arg_int(const char* name, int64_t value) {
  pkg_arg arg = pkg_arg_none(name);
  arg.value.kind = PKG_KIND_INT;
  arg.value.as.integer = value;
  return arg;
}
static inline pkg_arg pkg_arg_float(const char* name, double value) {
  pkg_arg arg = pkg_arg_none(name);
  arg.value.kind = PKG_KIND_FLOAT;
  arg.value.as.number = value;
  return arg;
}
static inline pkg_arg pkg_arg_string(const char* name, const char* text) {
  pkg_arg arg = pkg_arg_none(name);
  arg.value.kind = PKG_KIND_STRING;
  arg.value.length = -1;
  arg.value.as.string = text;
  return arg;
}
static inline pkg_arg pkg_arg_ints(const char* name, const int64_t* values,
                                   int64_t length) {
  pkg_arg arg = pkg_arg_none(name);
  arg.value.kind = PKG_KIND_INT_LIST;
  arg.value.length = length;
  arg.value.as.integers = values;
  return arg;
}
static inline pkg_arg pkg_arg_floats(const char* name, const double* values,
                                     int64_t length) {
  pkg_arg arg = pkg_arg_none(name);
  arg.value.kind = PKG_KIND_FLOAT_LIST;
  arg.value.length = length;
  arg.value.as.numbers = values;
  return arg;
}
static inline pkg_arg pkg_arg_strings(const char* name, const char* const* values,
                                      int64_t length) {
  pkg_arg arg = pkg_arg_none(name);
  arg.value.kind = PKG_KIND_STRING_LIST;
  arg.value.length = length;
  arg.value.as.strings = values;
  return arg;
}
static inline pkg_arg pkg_arg_bools(const char* name, const int64_t* values,
                                    int64_t length) {
  pkg_arg arg = pkg_arg_none(name);
  arg.value.kind = PKG_KIND_BOOL_LIST;
  arg.value.length = length;
  arg.value.as.integers = values;
  return arg;
}
static inline pkg_arg pkg_arg_dtype(const char* name, pkg_dtype dtype) {
  pkg_arg arg = pkg_arg_none(name);
  arg.value.kind = PKG_KIND_DTYPE;
  arg.value.as.integer = dtype;
  return arg;
}
static inline pkg_arg pkg_arg_device(const char* name, pkg_device device) {
  pkg_arg arg = pkg_arg_none(name);
  arg.value.kind = PKG_KIND_DEVICE;
  arg.value.as.integer = device;
  return arg;
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* PKG_C_API_H_ */
