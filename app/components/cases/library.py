"""The saved cases, for the app: a read-only app shows them, and its server refuses changes."""

from analysis.cases.library import Library
from app.settings import AppSettings


def open_library() -> Library:
    """The user's saved cases and collections.

    Raises:
        ConfigError: RECAP_HOME names a file.
    """
    return Library.of_user(read_only=AppSettings.from_environment().read_only)
