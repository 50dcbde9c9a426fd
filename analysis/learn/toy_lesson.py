"""The toy town inside lessons: its map, and a training that shows what each part is worth there."""

from functools import lru_cache
from typing import Final

import numpy as np

from analysis.formatting import percent, signed
from analysis.learn.charts import Bar, Bars, Dots, PlaceMap, Way
from analysis.learn.lesson import Handle, Scene, Told, Training
from analysis.learn.live_training import LiveEpoch, Part, Worth, toy_config, train_in_town, worth_of_part
from analysis.learn.toy_town import MAX_SHARE, PLACES, ToyTown, build_toy_town, kind_of_place, map_position, place_name
from analysis.learn.vocabulary import Say
from analysis.workspace import Workspace
from recap import columns as c

SHARES: Final = (0.0, 0.1, 0.2, 0.3, 0.4, MAX_SHARE)
TOWNS: Final = 5
PART_WORDS: Final[dict[Part, str]] = {"graph": "Without {graph}", "history": "Without {habit}"}


@lru_cache(maxsize=16)
def toy_town(two_hop: float, returns: float, seed: int) -> ToyTown:
    """A town, made once."""
    return build_toy_town(two_hop, returns, seed)


@lru_cache(maxsize=4)
def opened_town(two_hop: float, returns: float, seed: int) -> Workspace:
    """The same with its graph and cases."""
    return Workspace.of(toy_town(two_hop, returns, seed).dataset)


def poi_of(opened: Workspace, place: int) -> int:
    """The dataset's number of a planted place."""
    return int(np.flatnonzero(opened.dataset.pois[c.POI_NAME].to_numpy() == place_name(place))[0])


def town_map(
    opened: Workspace, seed: int, says: str, ways: tuple[Way, ...], source: int, target: int, chosen: int
) -> PlaceMap:
    """The town with a step's ends and a middle place that was chosen; places are the dataset's numbers.

    Args:
        seed: of the town.
    """
    kinds = {kind: [poi_of(opened, place) for place in range(PLACES) if kind_of_place(place) == kind] for kind in
             ("House", "Stop", "Square")}  # fmt: skip
    dots = [Dots(f"{kind}s", tuple(places), "baseline", size) for (kind, places), size in
            zip(kinds.items(), (9, 11, 15), strict=True)]  # fmt: skip
    dots += [
        Dots("Chosen middle place", (chosen,), "paths", 15),
        Dots("Start", (source,), "ink", 15),
        Dots("End", (target,), "truth", 19, ring=True),
    ]
    names = dict(enumerate(opened.labels))
    latitude, longitude = opened.latitude.copy(), opened.longitude.copy()
    for place in range(PLACES):
        poi = poi_of(opened, place)
        latitude[poi], longitude[poi] = map_position(place, seed)
    return PlaceMap(says, latitude, longitude, tuple(dots), ways, names, clickable=True)


def parts_training(say: Say) -> Training:
    """Train whole and without each part in a town of the learner's making."""
    shares = tuple(percent(share) for share in SHARES)
    handles = (
        Handle("two_hop", say("{Steps} that only {two_steps} explain"), shares, len(SHARES) - 1),
        Handle("returns", "Steps that are returns", shares, 0),
        Handle("town", "Town", tuple(str(number + 1) for number in range(TOWNS)), 0),
    )

    def run(at: tuple[int, ...], told: Told) -> Scene:
        return _train_parts(say, SHARES[at[0]], SHARES[at[1]], at[2], told)

    return Training(
        "Train three small models",
        say(
            "Now build a town and train in it. You set how many {steps} only {two_steps} can explain, and how many are "
            "returns. Three models train: one whole, one without {graph}, one without {habit}."
        ),
        handles,
        run,
    )


def _train_parts(say: Say, two_hop: float, returns: float, seed: int, told: Told) -> Scene:
    parts: tuple[Part, ...] = ("graph", "history")
    town = toy_town(two_hop, returns, seed)
    names = ["Whole", *(say(PART_WORDS[part]) for part in parts)]
    ranked = []
    for number, lacks in enumerate((None, *parts)):

        def tell(epoch: LiveEpoch, number: int = number) -> None:
            done = number * epoch.epochs + epoch.epoch
            words = f"{names[number]}: epoch {epoch.epoch} of {epoch.epochs}, {percent(epoch.hr1)} right at first"
            told(done, len(names) * epoch.epochs, words)

        ranked.append(train_in_town(town, toy_config(lacks=lacks, seed=seed), tell))
    worths = {part: worth_of_part(ranked[0], table) for part, table in zip(parts, ranked[1:], strict=True)}
    whole = worths["graph"].with_part
    bars = [Bar("Whole", whole, percent(whole, 1), "model")]
    bars += [
        Bar(say(PART_WORDS[part]), worth.without, percent(worth.without, 1), "baseline")
        for part, worth in worths.items()
    ]
    finding = " ".join(_verdict(say, part, worth) for part, worth in worths.items())
    note = "; ".join(
        f"{say(PART_WORDS[part])}: {signed(-worth.difference)} [{signed(-worth.high)}, {signed(-worth.low)}]"
        for part, worth in worths.items()
    )
    says = f"{finding} " + "; ".join(f"{bar.label}: {bar.text}" for bar in bars) + "."
    return Scene(
        finding,
        (Bars(says, "Test steps whose true place ranks first", tuple(bars), 1.0),),
        f"{note}, 95 % interval over people, n = {worths['graph'].n}. {percent(town.measured_share('two_hop'))} of the "
        f"test steps need two steps, {percent(town.measured_share('return'))} are returns.",
    )


def _verdict(say: Say, part: Part, worth: Worth) -> str:
    name = {"graph": "Knowing where people go", "history": "Knowing the habits"}[part]
    if worth.earns:
        return f"{name} earns its keep here."
    if worth.high < 0:
        return f"{name} does harm here."
    return f"{name} changes nothing that can be told from chance."
