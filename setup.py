"""The packages of the wheel; everything else about the distribution is in pyproject.toml.

`recap.bundles` is the repository's folder `checkpoints`, mapped there by `package-dir`: pyproject.toml can either find
packages or list them, and this adds one to those found.
"""

from setuptools import find_packages, setup

setup(packages=[*find_packages(include=["recap*", "analysis*", "app*"]), "recap.bundles"])
