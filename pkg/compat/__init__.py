# SPDX-License-Identifier: Apache-2.0
"""Other libraries' names over this one: ``pkg.compat.v1`` has TensorFlow 1's."""
