// graph.i: graphs and sessions: classes with one handle of the C interface each.
%{
#include "c_api/c_calls.h"
#include "c_api/graph_handles.h"
%}
%ignore pkg::c::OperationHandle::OperationHandle;
%ignore pkg::c::CallableHandle::CallableHandle;
%final(pkg::c::OperationHandle)
%final(pkg::c::GraphHandle)
%final(pkg::c::SessionHandle)
%final(pkg::c::CallableHandle)
%final(pkg::c::BodyHandle)
%remark(pkg::c::failed_operation, "kept shared")
%include "c_api/graph_handles.h"
%ignore pkg::c::CCall;
%include "c_api/c_calls.h"
