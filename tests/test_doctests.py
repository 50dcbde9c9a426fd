"""Examples in docstrings are true: every module that has one is imported and its examples run."""

import pytest

from tests.doctests import modules_with_examples, try_module


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_are_true(name: str) -> None:
    """What the docstring says comes out; the module is a library's, so that importing it does nothing else."""
    tried, wrong = try_module(name)
    assert tried > 0 and wrong == 0


def test_there_are_examples() -> None:
    assert len(modules_with_examples()) >= 9 and "recap.evaluation.metrics" in modules_with_examples()
