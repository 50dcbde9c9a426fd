"""Cases: recipes that search all test cases, and the library of saved ones, with notes, tags and collections."""

import streamlit as st

from analysis.cases.library import Library, Shelf, Stored
from analysis.cases.recipes import RECIPES, FoundCases, RecipeName
from analysis.cases.saved_case import Collection
from app import state
from app.cached import tables
from app.components.cases.card_grid import PAGE, Entry, chosen_entry, show_cards
from app.components.cases.chosen_case import show_chosen
from app.components.cases.exchange import exchange_control
from app.components.cases.share_cases import share_shown
from app.components.empty import source_with_cases
from app.components.error_boundary import error_boundary
from app.components.text import quiet
from app.components.toolbar import source_picker
from app.pages import PRESENT
from app.sources import Source
from recap.printable import markdown_text

_ALL = "all"


@error_boundary
def view() -> None:
    there = source_with_cases("so there is none to collect")
    if there is None:
        return
    source, opened = there
    shelf = Library.of_user().read()
    mine = [
        stored
        for stored in shelf.of(source.dataset_hash, source.checkpoint_hash)
        if _is_here(stored.value.link.case, len(opened.cases))
    ]
    found = tables.recipes(source)
    chosen_recipe = current_recipe(found, has_saved=bool(mine))
    collection = current_collection(shelf)
    with st.container(horizontal=True, vertical_alignment="center"):
        _collection_picker(shelf, len(mine))
        search = st.text_input(
            "Search",
            key="search_cases",
            placeholder="Search a title, tag or note",
            label_visibility="collapsed",
            width=210,
            max_chars=100,
            on_change=lambda: st.session_state.update(recipe=None, cards_shown=PAGE),
        )
        st.space("stretch")
        bar = st.container(horizontal=True, width="content", vertical_alignment="center")
    entries = _entries(shelf, mine, collection, search or "", found, chosen_recipe)
    chosen = chosen_entry(entries)
    with bar:
        _present_button(source, collection, entries, chosen_recipe)
        saved_names = [entry.saved.name for entry in entries if entry.saved]
        exchange_control(shelf, saved_names, collection if chosen_recipe is None else None)
        kept = collection.value.title if collection else "Saved cases"
        share_shown(source, entries, kept if chosen_recipe is None else found[chosen_recipe].label)
        with st.popover("More", icon=":material/tune:", type="tertiary", key="cases-more"):
            source_picker(source)
    title = st.container()
    _recipe_pills(found)
    with title:
        st.title(_finding(found, chosen_recipe, collection, entries, search or ""), anchor=False)
    if chosen_recipe is not None:
        quiet(markdown_text(found[chosen_recipe].absent or found[chosen_recipe].meaning))
    _say_damaged(shelf)
    if not entries:
        if chosen_recipe is None:
            quiet("Choose a recipe above, then save the cases worth telling; or save one in Explain.")
        return
    grid = st.grid(3, min_column_width=232)  # at 800 pixels too the box stands beside the cards
    with grid.cell(column_span=2):
        show_cards(source, found, entries, chosen)
    with grid.cell(), st.container(border=True):
        if chosen is not None:
            show_chosen(source, shelf, chosen, collection if chosen_recipe is None else None)


def current_recipe(found: dict[RecipeName, FoundCases], *, has_saved: bool) -> RecipeName | None:
    """The recipe that a link or a pill names; without a library yet, the first one that found anything."""
    asked = state.incoming("recipe")
    if asked in RECIPES:
        st.session_state["recipe"] = asked
    elif asked is not None:
        st.warning("The link names no recipe of this app.")
    if "recipe" not in st.session_state and not has_saved:
        st.session_state["recipe"] = next((name for name in RECIPES if found[name].count), None)
    name = st.session_state.get("recipe")
    state.write_param("recipe", name)
    return RECIPES[RECIPES.index(name)] if name in RECIPES else None


def current_collection(shelf: Shelf) -> Stored[Collection] | None:
    """The collection that a link or the selector names; None for all saved cases."""
    asked = state.incoming("collection")
    if asked is not None:
        st.session_state["collection"] = asked
        if asked not in shelf.collections:
            st.warning("The collection of this link is not in your library.")
    name = st.session_state.get("collection")
    stored = shelf.collections.get(str(name))
    state.write_param("collection", stored.name if stored else None)
    return stored


def _collection_picker(shelf: Shelf, number: int) -> None:
    names = [_ALL, *shelf.collections]
    current = st.session_state.get("collection")
    st.session_state["picked_collection"] = current if current in shelf.collections else _ALL

    def label(name: str) -> str:
        if name == _ALL:
            return f"All saved, {number:,}"
        stored = shelf.collections.get(name)
        return f"{stored.value.title}, {len(shelf.in_order(stored.value)):,}" if stored else name

    def pick() -> None:
        name = st.session_state["picked_collection"]
        st.session_state["collection"] = None if name == _ALL else name
        st.session_state["recipe"] = None
        st.session_state["cards_shown"] = PAGE

    st.selectbox(
        "Collection",
        names,
        key="picked_collection",
        format_func=label,
        label_visibility="collapsed",
        width=230,
        on_change=state.unless_late(pick, "recipe", "collection"),
    )


def _recipe_pills(found: dict[RecipeName, FoundCases]) -> None:
    total = next(iter(found.values())).of

    def pick() -> None:
        st.session_state["recipe"] = st.session_state["recipe_pills"]
        st.session_state["cards_shown"] = PAGE

    st.session_state["recipe_pills"] = st.session_state.get("recipe")
    st.pills(
        f"Find more in all {total:,} cases",
        RECIPES,
        key="recipe_pills",
        format_func=lambda name: f"{found[name].label} {found[name].count:,}",
        on_change=state.unless_late(pick, "recipe", "collection"),
    )


def _entries(
    shelf: Shelf,
    mine: list,
    collection: Stored[Collection] | None,
    search: str,
    found: dict[RecipeName, FoundCases],
    recipe: RecipeName | None,
) -> list[Entry]:
    """The cards to show: a recipe's cases, or saved ones that the search holds."""
    if recipe is not None:
        return [Entry(int(case), None, found[recipe]) for case in found[recipe].cases]
    here = {stored.name for stored in mine}
    shown = [stored for stored in shelf.in_order(collection.value) if stored.name in here] if collection else mine
    return [Entry(stored.value.link.case, stored) for stored in shown if stored.value.holds(search)]


def _finding(
    found: dict[RecipeName, FoundCases],
    recipe: RecipeName | None,
    collection: Stored[Collection] | None,
    entries: list[Entry],
    search: str,
) -> str:
    """The heading: what is shown, and how many."""
    if recipe is not None:
        count = found[recipe].count
        cases = "No case" if not count else "1 case" if count == 1 else f"{count:,} cases"
        return f"{markdown_text(found[recipe].label)}: {cases} of {found[recipe].of:,}"
    saved = "No saved case" if not entries else "1 saved case" if len(entries) == 1 else f"{len(entries):,} saved cases"
    held = f" with “{markdown_text(search[:40])}”" if search.strip() else ""
    where = f"{markdown_text(collection.value.title)}: " if collection else ""
    return f"{where}{saved if not where else saved[0].lower() + saved[1:]}{held}"


def _present_button(
    source: Source, collection: Stored[Collection] | None, entries: list[Entry], recipe: RecipeName | None
) -> None:
    """Presents the collection, or the recipe's first cases in their order."""
    if not source.has_parts:
        return
    is_collection = recipe is None and collection is not None
    params = (
        {"collection": collection.name}
        if is_collection and collection
        else {"recipe": recipe}
        if recipe
        else {"all": "1"}
    )
    if st.button(
        "Present",
        icon=":material/slideshow:",
        key="present",
        shortcut="P",
        disabled=not entries,
        help="Full width, by arrow keys. For a room, start `recap app --large-text`.",
    ):
        st.switch_page(PRESENT.path, query_params={name: str(value) for name, value in params.items()})


def _say_damaged(shelf: Shelf) -> None:
    if not shelf.damaged:
        return
    number = "One file" if len(shelf.damaged) == 1 else f"{len(shelf.damaged)} files"
    with st.expander(f"{number} in your library cannot be read; the others are here", icon=":material/warning:"):
        for entry in shelf.damaged[:20]:
            st.markdown(f"- {markdown_text(entry.file)}: {markdown_text(entry.reason[:200])}")


def _is_here(case: int, number: int) -> bool:
    return 0 <= case < number


view()
