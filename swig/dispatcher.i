// dispatcher.i: the ops' names, and opening libraries of them.  pkg/ops.py shows what they
// registered.
%{
#include "c_api/library.h"
#include "dispatcher/foreign.h"
#include "dispatcher/signature.h"
#include "framework/definitions.h"
#include "python/op/py_kernel.h"
%}
%without_names
namespace pkg {
/// Names of the registered ops, sorted.
std::vector<std::string> operator_names(const std::string &ns);
/// Namespaces that have ops, sorted.
std::vector<std::string> operator_namespaces();
/// Of one that declares all ops of it; RuntimeError with both places where it is taken.
void claim_namespace(const std::string &ns, const std::string &where);
/// Declares an op; its name with namespace and overload.
std::string define_op(const std::string &ns, const std::string &schema,
                      const std::string &doc, const std::string &where);
/// A row for each key of an op, highest first: name, what a call runs there, where.
std::vector<std::vector<std::string>> dispatch_table(const std::string &name);
}
namespace pkg::c {
/// Names of the ops that the library of an identity declared, 'mine::squash', sorted.
std::vector<std::string> library_ops(const std::string &identity);
}
%include "python/op/py_kernel.h"
%with_names
namespace pkg::c {
/// Opens a shared library of ops; see pkg.ops.load_library.  Returns its identity.
std::string load_library(const std::string &path);
}
namespace pkg::framework {
/// What REGISTER_OP said of an op, "tf::ZeroOut", as JSON; "" for an op without that.
std::string op_definition(const std::string &name);
}
