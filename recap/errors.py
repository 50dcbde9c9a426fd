"""Errors a user can fix: each message says what was expected, what came, where, and what to do."""


class RecapError(Exception):
    """Base of every error that ends a command with one line and exit code 2."""


class DataError(RecapError):
    """Input data that cannot be used."""


class DatasetError(DataError):
    """A prepared dataset folder that is missing, incomplete, edited or of a newer format."""


class ConfigError(RecapError):
    """A name or value that is unknown, out of range or contradictory."""


class CaseError(RecapError):
    """A case number, user or place that the dataset does not have."""


class ScoreError(RecapError):
    """Scores that cannot be ranked (NaN, wrong shape)."""


class DivergenceError(RecapError):
    """A training whose losses or weights are no longer finite: start it again, do not resume it."""


class CheckpointError(RecapError):
    """A checkpoint that cannot be used."""


class ChecksumError(CheckpointError):
    """A file whose SHA-256 differs from the recorded one."""


class MissingTensorError(CheckpointError):
    """Weights with a missing or an unknown tensor."""


class VocabularyError(CheckpointError):
    """A checkpoint of another dataset."""


class FormatVersionError(CheckpointError):
    """A file of a newer version."""


class FolderInUseError(RecapError):
    """Another process writes to the same folder."""
