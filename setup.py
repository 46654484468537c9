"""Find the packages: all below src/, and examples/ under the name toolcharter_examples.

Everything else is in pyproject.toml, which cannot say "what is found, and one more".
"""

from setuptools import find_packages, setup

setup(packages=[*find_packages("src"), "toolcharter_examples"])
