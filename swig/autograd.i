// autograd.i: the thread's grad mode, and the engine's check for NaN.
%{
#include "autograd/engine.h"
#include "dispatcher/dispatcher.h"
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
