// autograd.i: the engine, its check for NaN, nodes and hooks, and the thread's grad mode.
%{
#include "autograd/engine.h"
#include "base/thread_local.h"
#include "dispatcher/dispatcher.h"
#include "python/autograd/engine.h"
%}
%rename(is_grad_enabled) pkg::grad_enabled;
%final(pkg::HookHandle)
%ignore pkg::HookHandle::HookHandle;
namespace pkg {
/// A registered hook, also a context manager.
struct HookHandle {
  HookHandle();
  /// The hook is not called any more; a second call does nothing.
  void remove() const;
  %extend {
    /// The handle itself.
    pkg::HookHandle& __enter__() { return *$self; }
    /// Removes the hook.
    void __exit__(swigkit::Args exc) { $self->remove(); }
  }
};
/// Whether operations are recorded on this thread.
bool grad_enabled();
/// Switches recording on this thread; returns what it was.
bool set_grad_enabled(bool enabled);
/// Whether every backward pass checks the gradients for NaN.
bool detect_anomaly();
/// Makes every backward pass check for NaN and name the call that made it, or not.
void set_detect_anomaly(bool enabled);
}

%rename(Node) pkg::python::NodeObject;
%final(pkg::python::NodeObject)
%ignore pkg::python::NodeObject::NodeObject;
%positional_only(pkg::python::NodeObject::register_hook, 1)
%positional_only(pkg::python::NodeObject::register_prehook, 1)
%properties(pkg::python::NodeObject, next_functions, variable, call_site, op, input_shapes,
            saved)
%include "python/autograd/node.h"

%without_names
PKG_WAITS(pkg::backward)
PKG_WAITS(pkg::grad)
%rename(_backward) pkg::backward;
%rename(_grad) pkg::grad;
%rename(_retain_grad) pkg::retain_grad;
%error_name(pkg::backward, "backward")
%error_name(pkg::grad, "grad")
%error_name(pkg::retain_grad, "retain_grad")
%error_name(pkg::python::_register_hook, "register_hook")
%error_name(pkg::python::_register_accumulated_hook, "register_post_accumulate_grad_hook")
%error_name(pkg::python::_record_function, "Function")
namespace pkg {
/// Runs the engine; no inputs: all leaves.
void backward(const pkg::TensorList &tensors, const pkg::python::MaybeTensors &gradients,
              bool retain_graph, bool create_graph, const pkg::TensorList &inputs);
/// Gradients without accumulating.
pkg::TensorList grad(const pkg::TensorList &outputs, const pkg::TensorList &inputs,
                const pkg::python::MaybeTensors &grad_outputs, bool retain_graph,
                bool create_graph, bool allow_unused);
/// Keeps the gradient of a tensor that is no leaf.
void retain_grad(const pkg::Tensor &tensor);
}
%include "python/autograd/engine.h"
%with_names
