// autograd.i: the thread's grad mode.
%{
#include "dispatcher/dispatcher.h"
%}
%rename(is_grad_enabled) pkg::grad_enabled;
namespace pkg {
bool grad_enabled();
void set_grad_enabled(bool enabled);
}
