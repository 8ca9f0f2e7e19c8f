# SPDX-License-Identifier: Apache-2.0
"""What makes a Python extension of an interface file: see wrap.py."""
