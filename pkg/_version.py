# SPDX-License-Identifier: Apache-2.0
"""The one place of the version; read by pyproject.toml and pkg/__init__.py."""

__version__ = "0.1.0"
