"""The registry of tests and searches: names, definitions run again, entry points."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from komb.citests.plugins import Registry
from komb.errors import ParameterError, UnknownNameError


@dataclass(frozen=True)
class Thing:
    name: str
    implementation: Any
    summary: str = ""


class Apple:
    pass


class Pear:
    pass


def define(value: int) -> type:
    """Run a definition, again and again, as a cell of a notebook is."""

    class Defined:
        number = value

    return Defined


@dataclass
class EntryPoint:
    """What an installed package has to offer; counts how often it is loaded."""

    name: str
    register: Callable[[], object]
    value: str = "package.module"
    n_loaded: int = 0

    def load(self) -> object:
        self.n_loaded += 1
        return self.register()


@pytest.fixture
def things() -> Registry[Thing]:
    return Registry("thing", "komb.things")


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> list[EntryPoint]:
    """Entry points that other packages have in the group of things; empty at first."""
    points: list[EntryPoint] = []

    def entry_points(*, group: str) -> list[EntryPoint]:
        return points if group == "komb.things" else []

    monkeypatch.setattr("importlib.metadata.entry_points", entry_points)
    return points


@pytest.mark.usefixtures("installed")
class TestNames:
    def test_what_is_registered_is_found_in_alphabetical_order(
        self, things: Registry[Thing]
    ) -> None:
        things.add(Thing("pear", Pear))
        things.add(Thing("apple", Apple))
        assert list(things.all()) == ["apple", "pear"]
        assert things.find("pear").implementation is Pear
        with pytest.raises(TypeError):
            things.all()["plum"] = Thing("plum", Pear)  # type: ignore[index]

    def test_an_unknown_name_is_refused_with_a_suggestion(self, things: Registry[Thing]) -> None:
        things.add(Thing("apple", Apple))
        with pytest.raises(UnknownNameError, match=r"no thing 'aple'. Did you mean 'apple'\?"):
            things.find("aple")

    @pytest.mark.parametrize("second", [Pear, partial(print), define(1)])
    def test_a_name_can_be_taken_only_once(self, things: Registry[Thing], second: Any) -> None:
        things.add(Thing("apple", Apple))
        expected = f"'name' must not be the name of another thing.*taken by {__name__}"
        with pytest.raises(ParameterError, match=expected):
            things.add(Thing("apple", second))
        assert things.find("apple").implementation is Apple

    def test_what_has_no_name_of_its_own_can_be_registered(self, things: Registry[Thing]) -> None:
        shout = partial(print, end="!")
        things.add(Thing("shout", shout))
        things.add(Thing("shout", shout))
        with pytest.raises(ParameterError, match="'shout'"):
            things.add(Thing("shout", partial(print, end="!")))

    def test_a_definition_that_is_run_again_takes_its_own_place(
        self, things: Registry[Thing]
    ) -> None:
        for value in (1, 2, 3):
            things.add(Thing("defined", define(value)))
            assert things.find("defined").implementation.number == value
        assert list(things.all()) == ["defined"]

    def test_a_name_that_is_removed_is_free(self, things: Registry[Thing]) -> None:
        things.add(Thing("fruit", Apple))
        things.remove("fruit")
        things.add(Thing("fruit", Pear))
        assert things.find("fruit").implementation is Pear


class TestEntryPoints:
    def test_they_are_loaded_when_first_needed_and_once(
        self, things: Registry[Thing], installed: list[EntryPoint]
    ) -> None:
        point = EntryPoint("pear", lambda: things.add(Thing("pear", Pear)))
        installed.append(point)
        things.add(Thing("apple", Apple))
        assert things.find("apple").implementation is Apple
        assert point.n_loaded == 0  # what is known needs no other package
        assert things.find("pear").implementation is Pear
        assert list(things.all()) == ["apple", "pear"]
        with pytest.raises(UnknownNameError, match="pear"):
            things.find("plum")
        assert point.n_loaded == 1

    @pytest.mark.parametrize("need", ["all", "from_outside"])
    def test_a_list_is_complete(
        self, things: Registry[Thing], installed: list[EntryPoint], need: str
    ) -> None:
        installed.append(EntryPoint("pear", lambda: things.add(Thing("pear", Pear))))
        assert len(getattr(things, need)()) == 1

    def test_what_is_loaded_may_ask_for_the_list(
        self, things: Registry[Thing], installed: list[EntryPoint]
    ) -> None:
        def register() -> None:
            assert list(things.all()) == ["apple"]
            things.add(Thing("pear", Pear))

        things.add(Thing("apple", Apple))
        installed.append(EntryPoint("pear", register))
        assert list(things.all()) == ["apple", "pear"]

    def test_a_broken_one_is_left_out_with_a_warning(
        self, things: Registry[Thing], installed: list[EntryPoint]
    ) -> None:
        def fail() -> None:
            raise ImportError("no module named 'gone'")

        installed.append(EntryPoint("broken", fail, "lost.module"))
        installed.append(EntryPoint("pear", lambda: things.add(Thing("pear", Pear))))
        expected = "leaves out the thing 'broken' of 'lost.module'.*ImportError: no module named"
        with pytest.warns(RuntimeWarning, match=expected):
            assert list(things.all()) == ["pear"]
        with warnings.catch_warnings():  # said once
            warnings.simplefilter("error")
            assert list(things.all()) == ["pear"]

    def test_one_that_claims_a_name_of_ours_is_left_out(
        self, things: Registry[Thing], installed: list[EntryPoint]
    ) -> None:
        things.add(Thing("apple", Apple))
        installed.append(EntryPoint("other", lambda: things.add(Thing("apple", Pear))))
        with pytest.warns(RuntimeWarning, match="ParameterError: 'name' must not be"):
            things.all()
        assert things.find("apple").implementation is Apple

    def test_an_interrupt_is_not_swallowed(
        self, things: Registry[Thing], installed: list[EntryPoint]
    ) -> None:
        def interrupt() -> None:
            raise KeyboardInterrupt

        installed.append(EntryPoint("slow", interrupt))
        with pytest.raises(KeyboardInterrupt):
            things.all()


@pytest.mark.usefixtures("installed")
class TestOtherProcesses:
    def test_what_is_not_ours_is_handed_over(self, things: Registry[Thing]) -> None:
        things.add(Thing("ours", Registry))  # a class of komb
        things.add(Thing("apple", Apple))
        handed = pickle.loads(pickle.dumps(things.from_outside()))
        assert [thing.name for thing in handed] == ["apple"]
        worker: Registry[Thing] = Registry("thing", "komb.things")
        worker.adopt(handed)
        assert worker.find("apple").implementation is Apple

    def test_what_a_process_knows_itself_stays(self, things: Registry[Thing]) -> None:
        mine = Thing("fruit", Apple)
        things.add(mine)
        things.adopt([Thing("fruit", Pear)])
        assert things.find("fruit") is mine
