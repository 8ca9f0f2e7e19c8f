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

%intrusive(pkg::Node, pkg::Ref<pkg::Node>)
%final(pkg::Node)
%rename(_sequence_nr) pkg::Node::sequence;
%positional_only(pkg::Node::register_hook, 1)
%positional_only(pkg::Node::register_prehook, 1)
%properties(pkg::Node, next_functions, variable, call_site, op, input_shapes, saved)
namespace pkg {
/// One recorded operation; what tensor.grad_fn shows.
class Node {
 public:
  /// Name of the operation.
  std::string name() const;
  /// Grows with every node.
  uint64_t sequence() const;
  %extend {
    /// Calls hook(grad_inputs, grad_outputs) after the node has run; a tuple that it returns
    /// replaces grad_inputs. The handle's remove() undoes it.
    pkg::HookHandle register_hook(const swigkit::PyCallable &hook) {
      return pkg::python::add_hook(*$self, pkg::HookKind::Post, hook);
    }
    /// Calls hook(grad_outputs) before the node runs; a tuple that it returns replaces
    /// them. The handle's remove() undoes it.
    pkg::HookHandle register_prehook(const swigkit::PyCallable &hook) {
      return pkg::python::add_hook(*$self, pkg::HookKind::Pre, hook);
    }
    /// (node, input number) per input.
    swigkit::PyRef next_functions() { return pkg::python::next_functions(*$self); }
    /// The leaf of an AccumulateGrad node.
    pkg::Tensor variable() { return pkg::leaf_of(*$self); }
  }
  /// 'file:line' of the call that was recorded; '' when unknown.
  std::string call_site() const;
  %extend {
    /// Qualified name of the op, or None.
    std::optional<std::string> op() { return pkg::op_name(*$self); }
    /// Shape of each input; None when unknown.
    swigkit::PyRef input_shapes() { return pkg::python::input_shapes(*$self); }
    /// (name, tensor) of everything kept for backward.
    std::vector<std::pair<std::string, pkg::Tensor>> saved() { return pkg::saved_by(*$self); }
    std::string __repr__() { return "<" + $self->name() + ">"; }
  }

 protected:
  Node();
  ~Node();
};
}

%without_names
PKG_WAITS(pkg::backward)
PKG_WAITS(pkg::grad)
%rename(_backward) pkg::backward;
%rename(_grad) pkg::grad;
%rename(_retain_grad) pkg::retain_grad;
%error_name(pkg::backward, "backward")
%error_name(pkg::grad, "grad")
%error_name(pkg::retain_grad, "retain_grad")
%rename(_saved_tensors) pkg::function_saved_tensors;
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
/// What was saved, for the backward that runs.
pkg::TensorList function_saved_tensors(pkg::Node &node);
}
%include "python/autograd/engine.h"
%with_names
