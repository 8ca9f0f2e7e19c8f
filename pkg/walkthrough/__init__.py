# SPDX-License-Identifier: Apache-2.0
"""The modules of the articles on calling C++ from Python, as faces over this runtime.

``pydemo``, ``pydemo_int``, ``myops``, ``myops_dispatch_cpu``, ``overload_ops``
(``sync``, ``async_``, ``queue``, ``pool``) and ``scalar_mul_grad_class``. A sample runs
with its import line changed, e.g. ``from pkg.walkthrough import myops``. There is no
second
scheduler or autograd in here: numbers are 0-d float64 tensors, work goes to
``pkg.scheduler``, gradients to ``pkg.autograd``. docs/walkthrough/ leads through them.
"""
