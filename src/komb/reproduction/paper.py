"""The numbers that the paper reports, table by table, to set ours beside.

Lee, Krishnamoorthy & Piatkowski (2026), "High-Order Markov Blanket Discovery via a k-Order
Relaxation of the Faithfulness Assumption", UAI. Standard deviations are those of a sample (divided
by n - 1): two blankets found out of 40 on parity are printed as 0.0500 +- 0.2207.

The paper counts runs that reached the time cap in two ways: full results score them 0, the ablation
leaves them out. On Barley, with k=2 and l=1, one such run of 100 turns 0.4634 into 0.4588.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

FUNCTIONS = ("parity", "ex-1", "ex-2", "and", "or")
"""The Boolean functions of the synthetic suite."""

NETWORKS = ("Alarm1", "Barley", "Insurance", "Mildew")
"""The networks of the benchmark suite."""

SIZES = (50, 100, 200, 300, 400, 500, 750, 1000)
"""Rows of the samples that the figure traces."""

SYNTHETIC_ROWS, BENCHMARK_ROWS = 100, 5000
"""Rows of the samples that the tables are about."""

N_SAMPLES, N_TARGETS = 10, 10
"""Samples of each dataset, and targets in each sample of a network."""

TIME_CAP = 1800.0
"""Seconds after which a search was stopped."""

MACHINE = "Apple M4 Mac mini"

TEST, DF, ALPHA = "g-sci", "observed", 0.01
"""How dependence is tested for kOMB."""


def rows_of(dataset: str) -> int:
    """Return how many rows the samples have that the tables are about."""
    return BENCHMARK_ROWS if dataset in NETWORKS else SYNTHETIC_ROWS


def runs_of(dataset: str) -> int:
    """Return from how many runs a number is; each of a function's four variables is a target."""
    return N_SAMPLES * (N_TARGETS if dataset in NETWORKS else 4)


class Setting(NamedTuple):
    """A method, with its k and l if it has them."""

    method: str
    order: int | None = None
    max_separator: int | None = None

    @property
    def label(self) -> str:
        """What it is called in tables."""
        if self.method != "komb":
            return self.method.upper()
        return f"kOMB (k={self.order}, l={self.max_separator})"


class Published(NamedTuple):
    """A mean that the paper reports; without a standard deviation where it has none."""

    mean: float
    std: float | None = None


Printed: TypeAlias = dict[Setting, dict[str, Published | None]]
"""A table of the paper: by row and column. ``None`` stands for "--"."""

CLASSICS = ("bamb", "gs", "hiton-mb", "iamb", "lrh", "mmmb", "pcmb", "stmb")
"""The methods that kOMB is compared with, in the order of the tables."""


def read_printed(text: str) -> Printed:
    """Read a table: names of columns, then rows of ``method,k,l`` and numbers."""
    head, *lines = (line.split() for line in text.strip().splitlines())
    printed: Printed = {}
    for name, *numbers in lines:
        method, *bounds = name.split(",")
        row = Setting(method, *map(int, bounds))
        printed[row] = dict(zip(head, map(_read_number, numbers), strict=True))
    return printed


def _read_number(text: str) -> Published | None:
    return None if text == "--" else Published(*map(float, text.split("±")))


INTRODUCTION = read_printed("""
            100     1000
gs          28.33   100
komb,0,3    28.33   100
komb,1,3    77.50   100
komb,2,3    100.0   100
""")
"""Figure 1: recall in percent on ex-1, by rows of the sample."""

SYNTHETIC = read_printed("""
            and          ex-1         ex-2         or           parity
gs          0.410±0.405  0.313±0.419  0.288±0.407  0.365±0.374  0.025±0.110
komb,0,3    0.410±0.405  0.283±0.372  0.268±0.374  0.350±0.351  0.025±0.110
komb,1,3    0.618±0.374  0.675±0.474  0.675±0.474  0.560±0.435  0.050±0.221
komb,2,3    0.618±0.374  1.000±0.000  1.000±0.000  0.710±0.384  1.000±0.000
""")
"""F1 at 100 rows."""

FULL = read_printed("""
            Alarm1         Barley         Insurance      Mildew
bamb        0.6742±0.1771  0.3385±0.1226  0.6588±0.0797  0.4945±0.1084
gs          0.3434±0.1503  0.2113±0.0807  0.4615±0.1477  0.2867±0.1581
hiton-mb    0.7636±0.1861  0.3400±0.1284  0.6746±0.1594  0.4918±0.1487
iamb        0.6931±0.1827  0.3373±0.1223  0.6293±0.0778  0.4677±0.1224
lrh         0.6813±0.1777  0.3373±0.1223  0.6281±0.0782  0.4674±0.1230
mmmb        0.7692±0.1874  0.3298±0.1274  0.6978±0.1405  0.4861±0.1810
pcmb        0.7371±0.2127  0.2284±0.1199  0.6299±0.1291  0.4156±0.1445
stmb        0.6598±0.1627  0.2145±0.1281  0.5648±0.1324  0.2734±0.1765
komb,1,1    0.7804±0.1145  0.5158±0.1964  0.7136±0.1328  0.6220±0.1595
komb,1,2    0.8187±0.1944  0.3128±0.1582  0.7336±0.1624  0.4360±0.1394
komb,1,3    0.7923±0.1885  0.2498±0.1140  0.7076±0.1304  0.3726±0.1558
komb,2,1    0.7775±0.1511  0.4588±0.1825  0.7249±0.1464  0.5059±0.1458
komb,2,2    0.8209±0.1914  0.3128±0.1582  0.7336±0.1624  0.4360±0.1394
komb,2,3    0.7967±0.1828  0.2498±0.1140  0.7058±0.1311  0.3726±0.1558
komb,3,1    0.7721±0.1599  0.0000±0.0000  0.7227±0.1552  0.0419±0.1458
komb,3,2    0.8001±0.1948  0.0000±0.0000  0.7288±0.1471  0.3607±0.1964
komb,3,3    0.7967±0.1828  0.0000±0.0000  0.7058±0.1311  0.3726±0.1558
""")
"""F1 of every method, runs that reached the time cap scored 0."""

_ABLATION_OF_FUNCTIONS = read_printed("""
            parity         ex-1           ex-2           and            or
komb,0      0.0250±0.1104  0.2825±0.3720  0.2675±0.3737  0.4100±0.4050  0.3500±0.3508
komb,1      0.0500±0.2207  0.6750±0.4743  0.6750±0.4743  0.6175±0.3741  0.5600±0.4349
komb,2      1.0000±0.0000  1.0000±0.0000  1.0000±0.0000  0.6175±0.3741  0.7100±0.3842
komb,3      --             --             --             --             --
""")  # the same for every l

_ABLATION_OF_NETWORKS = read_printed("""
            Alarm1         Barley         Insurance      Mildew
komb,0,1    --             --             --             --
komb,0,2    --             --             --             --
komb,0,3    --             --             --             --
komb,2,1    0.7775±0.1511  0.4634±0.1774  0.7249±0.1464  0.5059±0.1458
komb,3,1    0.7721±0.1599  --             0.7227±0.1552  0.5243±0.1075
komb,3,2    0.8001±0.1948  --             0.7288±0.1471  0.4194±0.1414
komb,3,3    0.7967±0.1828  --             0.7058±0.1311  0.3726±0.1558
""")  # other rows are as in the full results

ABLATION: Printed = {
    row: _ABLATION_OF_FUNCTIONS[Setting("komb", row.order)] | (FULL | _ABLATION_OF_NETWORKS)[row]
    for row in (Setting("komb", order, bound) for order in range(4) for bound in (1, 2, 3))
}
"""F1 of every k and l, of finished runs."""

RUNTIMES = read_printed("""
            Alarm1          Barley           Insurance      Mildew
bamb        3.517±4.305     1.149±0.681      5.615±5.358    0.797±0.392
gs          4.875±5.183     1.575±0.606      4.433±3.792    1.035±0.341
hiton-mb    2.560±1.277     1.027±0.298      3.514±2.525    0.604±0.218
iamb        2.527±1.710     1.104±0.496      1.650±0.967    0.943±0.420
lrh         89.877±93.285   5.071±2.496      45.401±24.653  1.833±0.651
mmmb        2.724±1.278     1.090±0.374      3.508±2.525    0.553±0.128
pcmb        15.515±10.203   4.982±1.872      27.213±21.695  3.066±1.486
stmb        5.305±5.855     1.895±2.367      14.658±33.396  0.561±0.524
komb,1,1    5.258±2.921     58.190±31.619    4.856±2.041    17.698±10.205
komb,1,2    3.974±2.468     12.369±7.709     3.828±2.235    7.562±2.301
komb,1,3    4.111±2.791     9.639±3.794      3.171±1.707    7.384±2.127
komb,2,1    26.092±14.668   788.531±453.059  19.901±7.226   311.324±167.079
komb,2,2    18.144±7.566    335.821±135.966  14.493±7.280   121.909±33.153
komb,2,3    18.016±9.135    290.512±85.391   10.424±4.290   121.146±32.239
komb,3,1    174.900±83.504  1800.000±0.000   96.149±46.913  1761.246±188.357
komb,3,2    132.619±46.566  1800.000±0.000   58.350±21.745  1534.465±300.944
komb,3,3    127.861±49.652  1800.000±0.000   53.452±18.285  1356.514±304.778
""")
"""Seconds for one target, runs that reached the time cap counted with it."""

SEPARATORS: Mapping[str, tuple[float, ...]] = {
    "Alarm1": (37, 1202, 0.621, 3, 1.000),
    "Barley": (48, 2004, 1.739, 9, 0.835),
    "Insurance": (27, 562, 2.190, 7, 0.925),
    "Mildew": (35, 1030, 1.065, 6, 0.976),
}
"""Targets, pairs, and of inclusion-minimal separators the mean and largest size, and the share of
those with up to three members."""

SMALL = 3
"""Up to how many members a separator counts for the share."""


def has_timed_out(setting: Setting, dataset: str) -> bool:
    """Whether every run that the paper made of a setting on a network reached the time cap."""
    published = RUNTIMES.get(setting, {}).get(dataset)
    return published is not None and published.mean == TIME_CAP
