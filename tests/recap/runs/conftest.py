"""One dataset on disk and one runs folder for all tests of runs."""

from tests.run_fixtures import dataset_folder as dataset_folder
from tests.run_fixtures import store as store
