// autograd.i: the thread's grad mode, and the engine's check for NaN.
%{
#include "autograd/engine.h"
#include "dispatcher/dispatcher.h"
%}
%rename(is_grad_enabled) pkg::grad_enabled;
namespace pkg {
bool grad_enabled();
bool set_grad_enabled(bool enabled);
bool detect_anomaly();
void set_detect_anomaly(bool enabled);
}
