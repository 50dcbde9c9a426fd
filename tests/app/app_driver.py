"""Opening the app in a test: a view of the real entry file, on given folders, without a browser."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from app.settings import variable
from app.sources import TOKEN_LENGTH
from recap.data.dataset import Dataset
from recap.history.moments import Moment

MAIN = Path(__file__).parents[2] / "app" / "main.py"
MOST_SECONDS = 600
"""Of the clock: a page on a busy machine is slow, not broken."""


def point_app_at(
    patch: pytest.MonkeyPatch,
    data: Path | None,
    checkpoint: Path | None,
    *,
    read_only: bool = True,
    bundles: Path = Path("/nonexistent"),
) -> None:
    """Let the app offer these folders and nothing else."""
    patch.setenv(variable("data"), str(data or ""))
    patch.setenv(variable("checkpoint"), str(checkpoint or ""))
    patch.setenv(variable("bundles"), str(bundles))
    patch.setenv(variable("read_only"), "1" if read_only else "")


def without_model(dataset: Path) -> str:
    """The token that opens a dataset alone, without `pretrained`."""
    return Dataset.load(dataset).hash[:TOKEN_LENGTH]


def open_view(name: str, **params: str) -> AppTest:
    """Run a view with query parameters, as a link does."""
    app = AppTest.from_file(str(MAIN), default_timeout=MOST_SECONDS)
    for key, value in params.items():
        app.query_params[key] = value
    if name != "overview":
        app.switch_page(f"views/{name}.py")
    return app.run()


def follow(app: AppTest, name: str, fields: Mapping[str, Any]) -> AppTest:
    """Open a view in the same session with an address, as the browser's Back and Forward do."""
    app.query_params.clear()
    app.query_params.update(fields)
    return check_calm(app.switch_page(f"views/{name}.py").run())


def calm_view(name: str, **params: str) -> AppTest:
    """The view; nothing crashed, nothing was refused."""
    return check_calm(open_view(name, **params))


def click(app: AppTest, key: str) -> AppTest:
    """Click a button; nothing crashed, nothing was refused."""
    return check_calm(app.button(key=key).click().run())


def press(app: AppTest, key: str) -> AppTest:
    """Open what is sent when its button is pressed; nothing crashed, nothing was refused."""
    app.session_state[key] = True
    return check_calm(app.run())


def never(*_: object, **__: object) -> None:
    """In the place of a function that a page must not call."""
    raise AssertionError("this should not have been computed")


def check_calm(app: AppTest) -> AppTest:
    """Nothing crashed, nothing was refused."""
    assert not app.exception, app.exception[0].message
    assert not app.error, app.error[0].value
    return app


def table_with(app: AppTest, column: str) -> pd.DataFrame:
    """The first table that has a column."""
    return next(table.value for table in app.dataframe if column in table.value)


def pills(app: AppTest, key: str) -> Any:
    """A row of choices."""
    return next(group for group in app.get("button_group") if group.key == key)


def address(app: AppTest, *fields: str) -> dict[str, str]:
    """Some fields of the address, if it has them; by default those that name a case or a user at a moment."""
    names = fields or ("case", "user", "row", "stops", "at")
    values = {name: app.query_params[name] for name in names if name in app.query_params}
    return {name: value[-1] if isinstance(value, list) else value for name, value in values.items()}


def fields(moment: Moment) -> dict[str, str]:
    """The fields of the address that name a case or a user at a moment."""
    return {name: str(value) for name, value in moment.fields.items()}


def texts(app: AppTest) -> str:
    """All words that the app shows outside tables and charts."""
    kinds = (app.title, app.header, app.subheader, app.markdown, app.caption, app.info, app.warning, app.error)
    return "\n".join(str(element.value) for elements in kinds for element in elements)
