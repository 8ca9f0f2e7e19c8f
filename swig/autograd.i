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

%rename(HookHandle) pkg::python::HookHandleObject;
%rename(Node) pkg::python::NodeObject;
%final(pkg::python::HookHandleObject)
%final(pkg::python::NodeObject)
%ignore pkg::python::HookHandleObject::HookHandleObject;
%ignore pkg::python::NodeObject::NodeObject;
%positional_only(pkg::python::NodeObject::register_hook, 1)
%positional_only(pkg::python::NodeObject::register_prehook, 1)
%properties(pkg::python::NodeObject, next_functions, variable, call_site, op, input_shapes,
            saved)
%include "python/autograd/node.h"

%without_names
PKG_WAITS(pkg::python::_backward)
PKG_WAITS(pkg::python::_grad)
%include "python/autograd/engine.h"
%with_names
