"""Selectors before models that people use, on tables drawn from random structural models.

    python benchmarks/prediction.py [--tasks N] [--first SEED] [--selectors NAME ...]
        [--models NAME ...] [--most-cells N]

Each task has 40 to 1,000 columns and 200 to 5,000 rows to learn from, and 2,000 rows to predict
(:mod:`measures.structural_models`). A selector sees the rows to learn from; a forest, a logistic or
ridge regression and gradient boosting are fitted on what it keeps. The score is how often the
larger of two answers gets the larger prediction (the area under the ROC curve for two classes).
Mutual information and mRMR keep as many columns as komb does for prediction.

Constants of ``goal="prediction"`` were chosen on seeds from 1,001 on; the default is others.
"""

from __future__ import annotations

import argparse
import warnings

from threadpoolctl import threadpool_limits

from measures.real_selection import MODELS, SELECTORS, Tally, measure_split, print_line, print_means
from measures.structural_models import draw_task

PREDICTION = "komb (for prediction)"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tasks", type=int, default=60)
    parser.add_argument("--first", type=int, default=1, help="seed of the first task")
    parser.add_argument("--most-cells", type=int, default=200_000, help="rows times columns")
    parser.add_argument("--selectors", nargs="+", choices=list(SELECTORS), default=list(SELECTORS))
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS))
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    measured = []
    for seed in range(arguments.first, arguments.first + arguments.tasks):
        learn, predict = draw_task(seed, arguments.most_cells)
        tallies = {name: Tally() for name in arguments.selectors}
        answers = learn.y, predict.y
        with threadpool_limits(1):
            measure_split(
                (learn.X, predict.X), answers, tallies, arguments.models, at_the_size_of=PREDICTION
            )
        print_line(f"{learn.name} {learn.X.shape}", tallies, arguments.models)
        measured.append(tallies)
    print()
    print_means(measured, arguments.models)


if __name__ == "__main__":
    main()
