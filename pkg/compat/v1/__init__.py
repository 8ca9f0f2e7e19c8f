# SPDX-License-Identifier: Apache-2.0
"""TensorFlow 1's names over pkg.graph: ``import pkg.compat.v1 as tf``.

What is here behaves as TensorFlow 1 documents it; what is not here is an
AttributeError.  Values are NumPy arrays, Python's floats are float32, its ints int32.
"""

from __future__ import annotations

from ...graph import errors as errors, get_default_session as get_default_session
from . import (
    initializers as initializers,
    load_library as load_library,
    losses as losses,
    nn as nn,
    operators as _operators,  # noqa: F401  (it gives tensors their operators)
    test as test,
    train as train,
)
from .arrays import *  # noqa: F403
from .checks import *  # noqa: F403
from .client import (
    ConfigProto as ConfigProto,
    InteractiveSession as InteractiveSession,
    RunMetadata as RunMetadata,
    RunOptions as RunOptions,
    Session as Session,
)
from .collections import *  # noqa: F403
from .control import *  # noqa: F403
from .control_flow import *  # noqa: F403
from .conversions import (
    IndexedSlices as IndexedSlices,
    IndexedSlicesValue as IndexedSlicesValue,
    SparseTensor as SparseTensor,
    SparseTensorValue as SparseTensorValue,
    register_session_run_conversion_functions as register_session_run_conversion_functions,  # noqa: E501
)
from .convert import constant as constant, convert_to_tensor as convert_to_tensor
from .dtypes import *  # noqa: F403
from .elements import (
    Graph as Graph,
    NodeDef as NodeDef,
    Operation as Operation,
    Tensor as Tensor,
    get_default_graph as get_default_graph,
    reset_default_graph as reset_default_graph,
)
from .functional import *  # noqa: F403
from .gradients import *  # noqa: F403
from .indexing import *  # noqa: F403
from .initializers import *  # noqa: F403
from .load_library import load_op_library as load_op_library
from .make import *  # noqa: F403
from .math import *  # noqa: F403
from .printing import Print as Print
from .reduce import *  # noqa: F403
from .registered import *  # noqa: F403
from .scopes import *  # noqa: F403
from .shapes import Dimension as Dimension, TensorShape as TensorShape
from .sizes import *  # noqa: F403
from .state import *  # noqa: F403
from .tensor_array import TensorArray as TensorArray
from .variables import *  # noqa: F403

OpError = errors.OpError
newaxis = None
