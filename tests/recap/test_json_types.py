"""A stage as JSON has a type of its own: the same names, in the same order."""

from recap.model.config import Stage, StageValues


def test_the_type_names_every_field() -> None:
    """A field added to one alone is seen."""
    assert list(Stage.model_fields) == list(StageValues.__annotations__)
