// dispatcher.i: the ops' names, and opening libraries of them.  pkg/ops.py shows what they
// registered.
%{
#include "c_api/library.h"
#include "dispatcher/signature.h"
#include "framework/definitions.h"
%}
%positional_only(pkg::operator_names, 1)
%positional_only(pkg::c::library_ops, 1)
namespace pkg {
/// Names of the registered ops, sorted.
std::vector<std::string> operator_names(const std::string &ns);
/// Namespaces that have ops, sorted.
std::vector<std::string> operator_namespaces();
}
namespace pkg::c {
/// Opens a shared library of ops; see pkg.ops.load_library.  Returns its identity.
std::string load_library(const std::string &path);
/// Names of the ops that the library of an identity declared, 'mine::squash', sorted.
std::vector<std::string> library_ops(const std::string &identity);
}
namespace pkg::framework {
/// What REGISTER_OP said of an op, "tf::ZeroOut", as JSON; "" for an op without that.
std::string op_definition(const std::string &name);
}
