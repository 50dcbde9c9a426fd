"""What commands refuse: one line on stderr that says what was expected, exit code 2, and nothing written."""

import shlex
import socket
from pathlib import Path

import pytest

from tests.checkins import write_foursquare
from tests.cli_runner import recap_here
from tests.shell import assert_refused
from tests.tiny import WORDS
from tests.worlds import habit_rows

EXPLAIN = "explain MODEL --data DATA --json"
PREDICT = "predict visit_count --data DATA --out new/next.csv"
COMPARE = "compare markov --data DATA"
PREPARE = "prepare TABLE --out"
EVALUATE = "evaluate MODEL --data DATA"
TRAIN = "train DATA --out new --json"
TINY = f"{TRAIN} {' '.join(WORDS)}"
REFUSED = (
    (f"{PREPARE} new --set split_by=users", "split_by"),
    (f"{PREPARE} new --set min_poi_checkins=0", "min_poi_checkins"),
    (f"{PREPARE} new --set minimum=3", "unknown field 'minimum'"),
    (f"{PREPARE} new --set train_end", "field=value"),
    (f"{PREPARE} new --set train_end=0.95", "val_end"),
    (f"{PREPARE} new --preset paris", "'paris'"),
    (f"{PREPARE} new --format foursquer", "'foursquer'"),
    (f"{PREPARE} new --colour red", "--colour"),
    (f"{PREPARE} new --engine spark", "'spark'"),
    (f"{PREPARE} TABLE/new", "city.txt"),
    (f"{PREPARE} /proc/recap-out", "/proc"),
    ("prepare a.txt", "--out"),
    ("prepare a.txt --out new", "a.txt does not exist"),
    ("stats nowhere", "recap prepare"),
    ("predict-the-weather", "predict-the-weather"),
    ("app --port 8599 --address 203.0.113.7", "203.0.113.7:8599"),
    ("experiment run pretrained --data DATA --out .", "--out should name"),
    ("experiment run main --data DATA --data DATA --out new", "one --data"),
    (f"{TRAIN} --preset paris", "'paris'; choose one of recap, paper, feature_curves, or a published model: flash"),
    (f"{TRAIN} --preset feature_curves --set model.num_hops=3", "no graph"),
    (f"{TINY} --set model.hidden=3", "unknown field 'model.hidden'"),
    (f"{TINY} --set batch_size=0", "batch_size"),
    (f"{TINY} --set seed", "field=value"),
    (f"{TINY} --set curriculum.graph_epoch=9", "ordered"),
    (f"{TINY} --set epochs=2", "correction, warm_loss never become active within 2 epochs"),
    (f"{TINY} --epochs 0", "'--epochs': Input should be greater than or equal to 1"),
    (f"{TINY} --epochs few", "--epochs"),
    (f"{TINY} --seed -1", "seed"),
    (f"{TINY} --device gpu", "unknown device 'gpu'; use auto, cpu, cuda or cuda:N"),
    (f"{TINY} --device mps", "'mps'"),
    (f"{TINY} --device cuda:99", "'cuda:99' is not there"),
    (f"{TINY} --colour red", "--colour"),
    (f"{EVALUATE} --split all", "'all'; choose one of train, val, test"),
    (f"{EVALUATE} --protocol sometimes", "'sometimes'; choose one of every_step"),
    (f"{EVALUATE} --device tpu9", "'tpu9'"),
    ("evaluate markov --data DATA --device tpu9", "'tpu9'"),
    ("evaluate --data DATA", "MODEL"),
    ("evaluate oracle --data DATA", "'oracle' is neither a checkpoint folder nor one of pretrained, popularity"),
    (f"{EXPLAIN} --case 0,24", "there is no test case 24; this dataset has cases 0 to 23"),
    (f"{EXPLAIN} --case x", "--case expects numbers such as 5 or 5,17, got 'x'"),
    (f"{EXPLAIN} --case ''", "--case expects numbers"),
    (EXPLAIN, "no case given"),
    (f"{EXPLAIN} --case 3 --against 9999", "there is no POI 9999"),
    (f"{EXPLAIN} --case 3 --edit edge:1-2:-1", "edge weight -1"),
    (f"{EXPLAIN} --case 3 --edit remove:9999", "there is no visit 9999"),
    (f"{EXPLAIN} --case 3 --split future", "unknown split 'future'"),
    (f"{EXPLAIN} --link 'case=3&checkpoint=0123456789ab'", "this link was made with checkpoint 0123456789ab"),
    (f"{EXPLAIN} --link case=three", "case"),
    (f"{EXPLAIN} --case 3 --link case=3", "leave out --case"),
    (f"{EXPLAIN} --case 3 --user user2", "--user and --case name two different things"),
    (f"{EXPLAIN} --user user2 --link case=3", "leave out --case, --user"),
    (f"{EXPLAIN} --case 3 --as-of 2012-05-01", "--as-of needs --user"),
    (f"{EXPLAIN} --user nobody", "small has no user 'nobody'"),
    (f"{EXPLAIN} --user user2 --as-of soon", "--as-of expects a time such as"),
    (f"{EXPLAIN} --user user2 --as-of 2011-01-01", "small has no check-in at or before 2011-01-01"),
    (f"{EXPLAIN} --link 'user=0&row=99999'", "check-in 99999 of small is not one of user 0"),
    (f"{EXPLAIN} --case 3 --checks --seeds 1", "--seeds"),
    (f"{EXPLAIN} --case 3 --html MODEL/summary.json/page.html", "summary.json"),
    (f"{EXPLAIN} --case 3 --exact", "need --html FILE"),
    (f"{EXPLAIN} --case 3 --hide-places", "need --html FILE"),
    (f"{EXPLAIN} --case 3 --html p.html --exact --hide-places", "use either --exact or --hide-places"),
    (f"{PREDICT} --user nobody", "the data set has no user 'nobody'"),
    (f"{PREDICT} --as-of yesterday", "--as-of expects a time such as"),
    (f"{PREDICT} --user user0 --as-of 2001-01-01", "user 'user0' has no check-in up to 2001-01-01"),
    (f"{PREDICT} --at 2013-01-01", "cannot read the time of the next check-in"),
    (f"{PREDICT} --shard 3/2", "--shard expects I/N with I from 1 to N"),
    (f"{PREDICT} --shard ²/3", "--shard expects I/N with I from 1 to N"),
    (f"{PREDICT} --by-place --why", "--by-place counts all places: leave out --why and --new-places"),
    (f"{PREDICT} --by-place", "visit_count gives scores and no probabilities"),
    (f"{PREDICT} --checkins missing.csv", "missing.csv"),
    (f"{PREDICT} --timezone Asia/Tokyo", "need --checkins FILE"),
    ("predict visit_count --data DATA --out next.xls", "a file that ends in .csv, .parquet, .jsonl, .xlsx"),
    (f"{COMPARE} moon", "neither a checkpoint folder nor one of"),
    (f"{COMPARE} feature_curves --metric luck", "unknown metric"),
    (f"{COMPARE} visit_count --cell most", "unknown list"),
    (f"{COMPARE} MODEL --seeds MODEL", "not another seed"),
    (f"{COMPARE} visit_count --protocol luck", "unknown protocol"),
    (f"{COMPARE} visit_count --form latex", "--form, --intervals and --against go with --all"),
    (f"{COMPARE} visit_count --protocol every_next --cell both", "every_next has others"),
    (f"{COMPARE} --all --cell both", "--seeds and --cell go with a pair"),
    (f"{COMPARE} --all --form pdf", "unknown --form"),
    ("runs submit DATA --preset huge", "unknown preset 'huge'"),
    ("runs submit DATA --preset paper --seed 1 --seed 1", "every seed runs once"),
    ("runs submit DATA --preset feature_curves --grid model.num_hops=1,2,3", "no graph token"),
    ("runs show ../../etc", "a run is named by its number"),
    ("runs resume x", "a run is named by its number"),
    ("runs rm 7", "there is no run 7"),
    ("runs logs 7 -f --json", "use either --json or -f"),
    ("cases export nobody", "recap cases export"),
    ("cases share --data DATA --checkpoint MODEL", "nothing to write"),
    ("cases share --data DATA --checkpoint MODEL --html x.html", "no case to share"),
    ("cases share nobody --data DATA --checkpoint MODEL --html x.html", "no saved case"),
)
"""Commands on the small city; DATA and MODEL are its folders, TABLE is a file of check-ins."""


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_foursquare(tmp_path_factory.mktemp("table") / "city.txt", habit_rows())


@pytest.mark.parametrize(("command", "part"), REFUSED)
def test_a_refusal_is_one_line(
    command: str,
    part: str,
    city_folder: Path,
    city_checkpoint: Path,
    table: Path,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(home.parent)
    for name, folder in (("DATA", city_folder), ("MODEL", city_checkpoint), ("TABLE", table)):
        command = command.replace(name, shlex.quote(str(folder)))
    assert_refused(recap_here(*shlex.split(command)), part)
    assert [path for path in home.parent.rglob("*") if path.is_file() and home / "cache" not in path.parents] == []


def test_a_port_in_use_is_refused() -> None:
    """Before Streamlit starts, with what to do."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert_refused(
            recap_here("app", "--port", port), f"127.0.0.1:{port}", "another program uses this port", "--port"
        )


def test_an_app_that_others_reach_trains_only_if_asked() -> None:
    """Before anything is served; read-only or with the option it would start."""
    refused = recap_here("app", "--address", "0.0.0.0", "--port", 8598)  # noqa: S104
    assert_refused(refused, "0.0.0.0", "--read-only", "--allow-training")  # noqa: S104


def test_a_path_below_the_root_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its pages would stay empty."""
    monkeypatch.setenv("STREAMLIT_SERVER_BASE_URL_PATH", "lab")
    assert_refused(
        recap_here("app", "--port", 8599), "STREAMLIT_SERVER_BASE_URL_PATH", "let the web server remove the path"
    )
