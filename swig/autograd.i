// autograd.i: the engine, its check for NaN, nodes and hooks, and the thread's grad mode.
%{
#include "autograd/engine.h"
#include "base/thread_local.h"
#include "dispatcher/dispatcher.h"
#include "python/autograd/engine.h"
%}
%rename(is_grad_enabled) pkg::grad_enabled;
namespace pkg {
/// Whether operations are recorded on this thread.
bool grad_enabled();
/// Switches recording on this thread; returns what it was.
bool set_grad_enabled(bool enabled);
/// Whether every backward pass checks the gradients for NaN.
bool detect_anomaly();
/// Makes every backward pass check for NaN and name the call that made it, or not.
void set_detect_anomaly(bool enabled);
}
PKG_CLASSES
%rename(HookHandle) pkg::python::HookHandleObject;
%rename(Node) pkg::python::NodeObject;
%final(pkg::python::HookHandleObject)
%final(pkg::python::NodeObject)
%ignore pkg::python::HookHandleObject::HookHandleObject;
%ignore pkg::python::NodeObject::NodeObject;
%positional_only(pkg::python::NodeObject::register_hook, 1)
%positional_only(pkg::python::NodeObject::register_prehook, 1)
%property(pkg::python::NodeObject, swigkit::PyRef, next_functions, next_functions)
%property(pkg::python::NodeObject, swigkit::PyRef, variable, variable)
%property(pkg::python::NodeObject, std::string, call_site, call_site)
%property(pkg::python::NodeObject, std::optional<std::string>, op, op)
%property(pkg::python::NodeObject, swigkit::PyRef, input_shapes, input_shapes)
%property(pkg::python::NodeObject, %arg(std::vector<std::pair<std::string, pkg::Tensor>>),
          saved, saved)
%include "python/autograd/node.h"
PKG_FUNCTIONS

%positional_only(pkg::python::_backward, 5)
%positional_only(pkg::python::_grad, 6)
%positional_only(pkg::python::_register_hook, 2)
%positional_only(pkg::python::_register_accumulated_hook, 2)
%positional_only(pkg::python::_retain_grad, 1)
%positional_only(pkg::python::_record_function, 6)
%positional_only(pkg::python::_saved_tensors, 1)
PKG_WAITS(pkg::python::_backward)
PKG_WAITS(pkg::python::_grad)
%include "python/autograd/engine.h"
