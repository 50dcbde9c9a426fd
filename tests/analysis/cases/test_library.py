"""The library: one file a case, damaged ones named, nobody's words lost; and slides of a case."""

import json
import re
import shutil
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.cases.exchange import export_text, import_text
from analysis.cases.library import Library, LibraryConflictError, Stored
from analysis.cases.saved_case import Collection, SavedCase
from analysis.cases.slides import Slide, case_slide, change_slide, why_slide
from analysis.explain.edits import parse_edits
from analysis.explain.explain_case import explain_case
from analysis.explain.explanation import CaseExplanation
from analysis.explain.links import CaseLink
from analysis.formatting import ordinal
from analysis.workspace import Workspace
from recap.errors import ConfigError, RecapError

HASH, DATA = "a" * 64, "d" * 64
FIXTURE = Path(__file__).parent / "fixtures" / "d4346c48d2a32657.json"


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path / "cases")


def saved(case: int, note: str = "", checkpoint: str = HASH, day: int = 1, tags: tuple[str, ...] = ()) -> SavedCase:
    link = CaseLink(checkpoint=checkpoint, dataset=DATA, case=case, about=2, against=5, edits="hour:5")
    return SavedCase(link=link, title=f"Case {case}", note=note, tags=tags, saved=datetime(2026, 1, day, tzinfo=UTC))


def collection(title: str, *names: str) -> Collection:
    return Collection(title=title, cases=names, changed=datetime(2026, 1, 1, tzinfo=UTC))


def test_read_back_latest_first(library: Library) -> None:
    """What was saved comes back whole, the latest first; before the first save there is nothing, and no folder."""
    assert not library.read().cases and not library.folder.exists()
    first, second = library.add(saved(1, "one", tags=("x", "y"))), library.add(saved(2, "two", day=2))
    shelf = library.read()
    assert list(shelf.cases.values()) == [second, first]
    assert shelf.of(DATA, HASH) == [second, first]
    assert shelf.of(DATA, "b" * 64) == [] and shelf.of("c" * 64, HASH) == []
    library.remove(first)
    library.remove(first)
    assert list(library.read().cases) == [second.name]


def test_cases_of_the_version_before_open(library: Library) -> None:
    """A file without tags, audience and words is read as it is, keeps its name when changed, and is still found."""
    library.folder.mkdir(parents=True)
    shutil.copy(FIXTURE, library.folder)
    (stored,) = library.read().cases.values()
    assert (stored.name, stored.value.name) == (FIXTURE.stem, FIXTURE.stem)
    assert (stored.value.link.case, stored.value.link.edits) == (400, "hour:05:00;off:prior")
    assert (stored.value.note, stored.value.tags, stored.value.words) == ("Ask the room first", (), "stakeholder")
    full = stored.value.link.model_copy(update={"checkpoint": stored.value.link.checkpoint + "9" * 52})
    with pytest.raises(LibraryConflictError, match="already"):
        library.add(stored.value.model_copy(update={"link": full}))
    library.change(stored, stored.value.model_copy(update={"tags": ("old",)}))
    assert [entry.name for entry in library.folder.glob("*.json")] == [FIXTURE.name]


def test_what_was_saved_in_november_2026_opens(tmp_path: Path) -> None:
    """A case with everything written about it and its collection: later versions read every field as it was saved."""
    shutil.copytree(FIXTURE.parent / "library", tmp_path / "cases")
    shelf = Library(tmp_path / "cases").read()
    assert shelf.damaged == ()
    (stored,), (collected,) = shelf.cases.values(), shelf.collections.values()
    for there, folder in ((stored, ""), (collected, "collections")):
        file = json.loads((tmp_path / "cases" / folder / f"{there.name}.json").read_text())
        read = json.loads(there.value.model_dump_json())
        if "link" in file:
            read["link"] = {name: read["link"][name] for name in file["link"]}
        assert {name: read[name] for name in file} == file and there.value.name == there.name
    assert shelf.in_order(collected.value) == [stored]
    assert (stored.value.link.case, stored.value.tags) == (2683, ("two hops", "start here"))
    assert stored.value.note.splitlines()[1] == "Then take two steps away." and stored.value.words == "researcher"


def test_a_damaged_file_costs_only_itself(library: Library, tmp_path: Path) -> None:
    """Each is named with its reason; the others are there."""
    good = library.add(saved(1))
    (library.folder / "broken.json").write_text("{")
    (library.folder / "binary.json").write_bytes(b"\xff\xfe")
    (library.folder / "strange name.json").write_text("{}")
    (library.folder / "other.json").write_text(json.dumps({"link": {"case": 1}, "title": "x", "colour": "red"}))
    outside = tmp_path / "outside.json"
    outside.write_text(good.value.model_dump_json())
    (library.folder / "linked.json").symlink_to(outside)
    shelf = library.read()
    assert list(shelf.cases) == [good.name]
    reasons = {entry.file: entry.reason for entry in shelf.damaged}
    assert set(reasons) == {"broken.json", "binary.json", "strange name.json", "other.json", "linked.json"}
    assert "colour" in reasons["other.json"] and "outside the folder" in reasons["linked.json"]
    assert outside.exists()


def test_two_windows_never_overwrite_each_other(library: Library) -> None:
    """Whoever read an earlier version is refused, and what the first one wrote stays."""
    one, two = Library(library.folder), Library(library.folder)
    old = one.add(saved(1))
    now = one.change(old, saved(1, "from one"))
    for attempt in (lambda: two.change(old, saved(1, "from two")), lambda: two.remove(old)):
        with pytest.raises(LibraryConflictError, match="another window"):
            attempt()
    with pytest.raises(LibraryConflictError, match="already"):
        two.add(saved(1, "from two"))
    assert list(two.read().cases.values()) == [now]
    one.remove(now)
    with pytest.raises(LibraryConflictError, match="removed"):
        two.change(now, saved(1, "from two"))
    assert not two.read().cases


def _append(folder: Path, mark: str) -> None:
    """Add ten marks to the note, reading again whenever somebody else was first."""
    library, done = Library(folder), 0
    while done < 10:
        (stored,) = library.read().cases.values()
        with suppress(LibraryConflictError):
            library.change(stored, stored.value.model_copy(update={"note": stored.value.note + mark}))
            done += 1


PROCESSES = partial(ProcessPoolExecutor, mp_context=get_context("spawn"))


@pytest.mark.parametrize(
    "executor", [ThreadPoolExecutor, pytest.param(PROCESSES, marks=pytest.mark.slow)], ids=["threads", "processes"]
)
def test_two_windows_at_once_lose_no_word(library: Library, executor: Callable[[int], Executor]) -> None:
    """Both write at once: every mark of both is there in the end."""
    library.add(saved(1))
    with executor(2) as pool:
        list(pool.map(_append, [library.folder] * 2, "ab"))
    (stored,) = library.read().cases.values()
    assert sorted(stored.value.note) == ["a"] * 10 + ["b"] * 10


def test_what_cannot_be_written_is_refused(library: Library) -> None:
    """A made-up name with a path in it before anything is touched, and a folder that cannot be made."""
    stored = library.add(saved(1))
    with pytest.raises(RecapError, match="letters"):
        library.change(Stored("../escaped", stored.value, stored.version), stored.value)
    assert not (library.folder.parent / "escaped.json").exists()
    (library.folder.parent / "file").write_text("in the way")
    with pytest.raises(RecapError, match="file"):
        Library(library.folder.parent / "file").add(saved(1))


def test_collections_have_an_order(library: Library) -> None:
    """Cases go to the end, move one by one and stop at the ends; a case that is gone is left out."""
    names = [library.add(saved(case)).name for case in (1, 2, 3)]
    stored = library.add(collection("Tuesday", *names[:2]))
    value = stored.value.with_case(names[2]).with_case(names[2]).moved(names[2], -1).moved(names[0], -1)
    assert value.cases == (names[0], names[2], names[1])
    library.change(stored, value.without_case(names[0]))
    shelf = library.read()
    (there,) = shelf.collections.values()
    assert [entry.value.link.case for entry in shelf.in_order(there.value)] == [3, 2]
    library.remove(shelf.cases[names[2]])
    assert [entry.value.link.case for entry in library.read().in_order(there.value)] == [2]
    with pytest.raises(LibraryConflictError, match="already"):
        library.add(collection("  tuesday "))


@given(at=st.integers(0, 5), by=st.integers(-7, 7))
def test_moving_keeps_all_cases(at: int, by: int) -> None:
    """Law: one case at its new place or at an end, the others in the same order."""
    order = [letter * 16 for letter in "abcdef"]
    case = order.pop(at)
    moved = list(collection("x", *order[:at], case, *order[at:]).moved(case, by).cases)
    assert moved.index(case) == min(max(at + by, 0), 5)
    moved.remove(case)
    assert moved == order


def test_search_and_tags() -> None:
    """Every word of a search must stand somewhere; a tag stands once, whatever its capitals; too many are refused."""
    case = saved(1, "Ask the ROOM first", tags=("two hops",)).model_copy(update={"audience": "City council"})
    assert all(case.holds(text) for text in ("", "room", "hops ask", "council", "case 1"))
    assert not case.holds("room nobody")
    assert saved(1, tags=("A", "b", "a")).tags == ("A", "b")
    with pytest.raises(ConfigError, match="tags"):
        SavedCase.parse(saved(1).model_dump() | {"tags": tuple(map(str, range(13)))})


def test_export_and_import(library: Library, tmp_path: Path) -> None:
    """What one exports another takes in; what differs stays, what is broken is named, the rest is there."""
    names = [library.add(saved(case, f"note {case}")).name for case in (1, 2)]
    kept = library.add(collection("Tuesday", *names))
    text = export_text(library.read(), [], [kept.name])
    other = Library(tmp_path / "other")
    done = import_text(other, text)
    assert (done.added, done.kept, done.damaged) == (["Case 1", "Case 2", "Tuesday"], [], [])
    assert {entry.value for entry in other.read().cases.values()} == {saved(1, "note 1"), saved(2, "note 2")}
    assert len(import_text(other, text).same) == 3
    mine = other.read().cases[names[0]]
    other.change(mine, saved(1, "mine"))
    values = json.loads(text)
    values["cases"].append({"title": "no link"})
    again = import_text(other, json.dumps(values))
    assert again.kept == ["Case 1"] and len(again.damaged) == 1 and "entry 3" in again.damaged[0]
    assert other.read().cases[names[0]].value.note == "mine"
    assert import_text(Library(tmp_path / "third"), FIXTURE.read_text()).added


@pytest.mark.parametrize("text", ["", "[]", '{"kind": "else"}', "{" * 5000, '{"link": ' + "[" * 900 + "]" * 900 + "}"])
def test_other_files_are_refused(library: Library, text: str) -> None:
    with pytest.raises(ConfigError, match="not a file of saved cases"):
        import_text(library, text)
    assert not library.folder.exists()


CASES = 12
DATE = re.compile(r"\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d|\b\d\d:\d\d\b|\bUser \d")


@pytest.fixture(scope="module")
def model(city_folder: Path, city_checkpoint: Path) -> Workspace:
    return Workspace.open(city_folder, city_checkpoint)


@pytest.fixture(scope="module")
def explained(model: Workspace) -> list[CaseExplanation]:
    return [explain_case(model.predictor, case, search=True) for case in range(CASES)]


def words(slide: Slide) -> str:
    """Everything on a slide."""
    return " | ".join([slide.text, *(f"{number.label}: {number.value}" for number in slide.numbers)])


def changed(model: Workspace, shown: CaseExplanation, text: str) -> Slide:
    """The last slide under edits."""
    edits = parse_edits(text)
    after = explain_case(model.predictor, shown.moment, against=shown.runner_up, edits=edits)
    return change_slide(shown, after, edits, 9, model.labels.__getitem__)


def test_slides_say_what_explain_says(explained: list[CaseExplanation]) -> None:
    """The headline, the ranks, and the ranks without a group, of which the one that carries the case comes first.

    Where another place than the truth is first, why it won, as Explain says it.
    """
    beaten = 0
    for shown in explained:
        case, why = case_slide(shown, "Visit count", 4.0), why_slide(shown)
        assert case.text == shown.headline.text
        assert [number.value for number in case.numbers[:2]] == [ordinal(shown.target_rank), "4th"]
        ranks = [number.value for number in why.numbers]
        assert ranks[0] == ordinal(shown.target_rank) and len(ranks) == 3
        worst = max(entry.rank for entry in shown.without)
        assert worst == shown.target_rank or ranks[1] == ordinal(worst)
        assert set(ranks[1:]) <= {ordinal(entry.rank) for entry in shown.without}
        for said in (sentence.text for sentence in shown.sentences if sentence.about == "runner_up"):
            assert why.text.endswith(said)
            beaten += 1
    assert beaten


def test_the_smallest_change_is_explains(model: Workspace, explained: list[CaseExplanation]) -> None:
    """Before and after as ranked; where no single edit turns the two round, the slide says so."""
    found = [shown for shown in explained if shown.flip is not None]
    assert found
    for shown in found:
        slide = changed(model, shown, shown.flip.edit.text)
        again = explain_case(model.predictor, shown.moment, against=shown.runner_up, edits=(shown.flip.edit,))
        best = next(entry.name for entry in again.candidates if entry.poi != shown.target)
        ranks = [ordinal(shown.target_rank), ordinal(again.target_rank)]
        assert [number.value for number in slide.numbers] == [*ranks, best]
        assert not DATE.search(words(slide)), words(slide)
    nothing = change_slide(explained[0], None, (), 62, model.labels.__getitem__)
    assert nothing.text.startswith("None of 62 single changes puts ")


def test_edits_of_a_saved_view_are_what_is_changed(model: Workspace, explained: list[CaseExplanation]) -> None:
    shown = explained[3]
    assert changed(model, shown, "weekday:sun").text.startswith("On another weekday, ")
    assert changed(model, shown, "weekday:sun;hour:5").text.startswith("With 2 changes, ")
    visit = next(place.visits[-1].visit for place in shown.visits if place.visits)
    removed = changed(model, shown, f"remove:{visit}")
    assert re.match(r"Without (the only|the last) past visit, ", removed.text) and not DATE.search(words(removed))
