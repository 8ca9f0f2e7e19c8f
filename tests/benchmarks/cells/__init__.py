# SPDX-License-Identifier: Apache-2.0
"""The cells of the generated benchmark: recipes of calls by family, and their timing.

recipe.py makes cells from a recipe; the other files hold recipes, some lines for each
group of ops; cover.py compares them with the registry.
"""
