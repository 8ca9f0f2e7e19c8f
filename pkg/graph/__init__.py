# SPDX-License-Identifier: Apache-2.0
"""Graphs and sessions: programs that are written down first and run later.

A symbol stands for a tensor that a run will give; every op takes symbols.  A session
runs what it is asked for, with values for placeholders, and keeps those of variables.
"""

from __future__ import annotations

from . import errors as errors, own_functions as own_functions
from .building import (
    Graph as Graph,
    get_default_graph as get_default_graph,
    reset_default_graph as reset_default_graph,
)
from .callbacks import py_func as py_func
from .compiling import CompiledFunction as CompiledFunction, compile as compile
from .control_flow import cond as cond, while_loop as while_loop
from .defaults import get_default_session as get_default_session
from .files import (
    export_graph as export_graph,
    import_graph as import_graph,
    restore_variables as restore_variables,
)
from .functions import (
    constant as constant,
    control_dependencies as control_dependencies,
    gradients as gradients,
    group as group,
    name_scope as name_scope,
    placeholder as placeholder,
    record as record,
    shape as shape,
)
from .graph_def import GraphDefError as GraphDefError
from .memory_plan import MemoryPlan as MemoryPlan
from .own_gradients import with_gradient as with_gradient
from .rewriting import Rewrite as Rewrite, rewrite as rewrite
from .sessions import InteractiveSession as InteractiveSession, Session as Session
from .shapes import TensorShape as TensorShape
from .symbols import Operation as Operation, Symbol as Symbol
from .traces import RunTrace as RunTrace
from .tracing import TracedFunction as TracedFunction, trace as trace
from .variables import (
    Variable as Variable,
    global_variables_initializer as global_variables_initializer,
)
