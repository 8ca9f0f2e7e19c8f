// graph.i: graphs and sessions: classes with one handle of the C interface each.
%{
#include "c_api/c_calls.h"
#include "c_api/graph_handles.h"
%}
PKG_CLASSES
%ignore pkg::c::OperationHandle::OperationHandle;
%ignore pkg::c::CallableHandle::CallableHandle;
%final(pkg::c::OperationHandle)
%final(pkg::c::GraphHandle)
%final(pkg::c::SessionHandle)
%final(pkg::c::CallableHandle)
%final(pkg::c::BodyHandle)
PKG_CALL("kept", "shared", pkg::c::failed_operation)
%include "c_api/graph_handles.h"
PKG_FUNCTIONS
%ignore pkg::c::CCall;
%include "c_api/c_calls.h"
