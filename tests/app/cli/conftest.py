"""One dataset on disk and one runs folder for the tests of the run commands."""

from tests.run_fixtures import dataset_folder as dataset_folder
from tests.run_fixtures import store as store
