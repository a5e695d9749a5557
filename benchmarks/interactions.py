"""Which columns act together: power, errors and speed of ``komb.interactions``.

    python benchmarks/interactions.py power [--tables N] [--prevalence K] [--order 2|3]
    python benchmarks/interactions.py null [--tables N] [--columns N] [--kind NAME]
    python benchmarks/interactions.py certificate [--tables N]
    python benchmarks/interactions.py orders FOLDER [--half 0|1]
    python benchmarks/interactions.py epigen FOLDER [--half 0|1] [--scale scores|values]
    python benchmarks/interactions.py speed [--columns N] [--rows N] [--order K] [--plink FILE]

``power``: 100 SNPs and 2,000 people, half of them cases, of a pure model: how often the true set is
ranked first by the test of the interaction and by that of the association (which is what mutual
information ranks by, as MPI3SNP does). ``null``: how many tables without any effect have a finding.
``certificate``: how often a set carries more than the certificate says. ``orders`` and ``epigen``:
files ``*.npz`` of published tables; ``--half`` takes every second one, so that constants can be
chosen on one half and judged on the other. ``speed``: groups per second, beside PLINK 1.9 if it is
there.
"""

from __future__ import annotations

import argparse
import math
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import komb

MAFS: dict[int, list[tuple[float, ...]]] = {
    2: [(0.25, 0.25), (0.25, 0.5), (0.5, 0.5), (0.05, 0.25), (0.05, 0.5)],
    3: [(0.25,) * 3, (0.25, 0.25, 0.5), (0.5,) * 3, (0.05, 0.25, 0.5), (0.05, 0.5, 0.5)],
}
PRINTED = {  # of 100 tables, as the papers have it: nothing that was run here
    2: {"BOOST": (68, 55, 64, 66, 45), "BitEpi": (88, 79, 82, 81, 55)},
    3: {"MPI3SNP": (13, 15, 27, 16, 9), "BitEpi": (36, 36, 52, 25, 16)},
}


NULLS = (
    "balanced", "rare cases", "main effects", "linked cases", "rare linked cases", "measured",
    "heavy tails", "values", "additive", "multiplied", "linked", "permuted", "order 3", "order 4",
)  # fmt: skip


def genotype_shares(maf: float) -> np.ndarray:
    return np.array([(1 - maf) ** 2, 2 * maf * (1 - maf), maf**2])


def pure_model(
    mafs: Sequence[float], heritability: float, prevalence: float, rng: np.random.Generator
) -> np.ndarray:
    """Penetrances whose mean is the prevalence, whatever all genotypes but one are.

    A random direction among the tables that have no mean along any axis; it is drawn again until it
    can be as steep as the heritability wants.
    """
    shares = [genotype_shares(maf) for maf in mafs]
    joint = np.ones(())
    for own in shares:
        joint = np.multiply.outer(joint, own)
    wanted = math.sqrt(heritability * prevalence * (1 - prevalence))
    for _ in range(100_000):
        table = rng.normal(size=joint.shape)
        for axis, own in enumerate(shares):
            mean = np.tensordot(table, own, (axis, 0))
            table = table - np.expand_dims(mean, axis)
        table *= wanted / math.sqrt(float((joint * table**2).sum()))
        if prevalence + table.min() >= 0 and prevalence + table.max() <= 1:
            return prevalence + table
    raise ValueError(f"no pure model of {mafs} with heritability {heritability}")


def sample_cases(
    penetrance: np.ndarray, mafs: Sequence[float], n: int, n_snps: int, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Half cases, half controls; the first SNPs are those of the model."""
    joint = np.ones(())
    for maf in mafs:
        joint = np.multiply.outer(joint, genotype_shares(maf))
    columns: dict[str, np.ndarray] = {}
    picked = []
    for weights in (joint * (1 - penetrance), joint * penetrance):
        flat = (weights / weights.sum()).reshape(-1)
        picked.append(rng.choice(flat.size, n // 2, p=flat))
    for number, own in enumerate(np.unravel_index(np.concatenate(picked), joint.shape)):
        columns[f"M{number}"] = own
    for number in range(len(mafs), n_snps):
        columns[f"N{number}"] = rng.binomial(2, rng.uniform(0.05, 0.5), n)
    columns["case"] = np.repeat([0, 1], n // 2)
    return columns


def to_table(columns: dict[Any, np.ndarray]) -> komb.DiscreteTable:
    return komb.DiscreteTable.from_codes(np.column_stack([*columns.values()]), [*columns])


def run_power(arguments: argparse.Namespace) -> None:
    order = arguments.order
    truth = {f"M{i}" for i in range(order)}
    print("| MAFs | interaction | association | significant |", *PRINTED[order], sep=" | ")
    print("|---" * (4 + len(PRINTED[order])) + "|")
    for place, mafs in enumerate(MAFS[order]):
        first = {"interaction": 0, "association": 0}
        found = 0
        for seed in range(arguments.tables):
            rng = np.random.default_rng([seed, place, order])
            model = pure_model(mafs, arguments.heritability, arguments.prevalence, rng)
            table = to_table(sample_cases(model, mafs, 2000, 100, rng))
            for test in first:
                result = komb.interactions(table, "case", order, test=test)
                own = [g for g in result if len(g.columns) == order]
                best = min(own, key=lambda g: g.p_value, default=None)
                first[test] += best is not None and set(best.columns) == truth
                if test == "interaction":
                    found += any(set(g.columns) == truth for g in result.significant)
        printed = [f"{values[place]}" for values in PRINTED[order].values()]
        shares = [*first.values(), found]
        cells = [f"{100 * each / arguments.tables:.0f}" for each in shares]
        print("|", " | ".join(["/".join(map(str, mafs)), *cells, *printed]), "|", flush=True)


def run_null(arguments: argparse.Namespace) -> None:
    print("| table | tables | with a finding |\n|---|---|---|")
    for name in NULLS if arguments.kind is None else arguments.kind:
        wrong = 0
        for seed in range(arguments.tables):
            order = int(name[-1]) if name.startswith("order") else 2
            width = {2: arguments.columns, 3: 60, 4: 24}[order]
            columns = null_columns(name, 1000, width, np.random.default_rng(seed))
            scale = "values" if name == "values" else "auto"
            result = komb.interactions(columns, "y", order, scale=scale)
            wrong += bool(result.significant)
        print(f"| {name} | {arguments.tables} | {wrong} |", flush=True)


def null_columns(name: str, n: int, width: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Columns none of which act together on ``y``, whatever they do by themselves."""
    columns = {f"N{i}": rng.binomial(2, rng.uniform(0.05, 0.5), n) for i in range(width)}
    if "linked" in name:  # blocks of ten, each SNP a noisy copy of the one before
        for i in range(width):
            if i % 10:
                is_new = rng.random(n) < 0.15
                columns[f"N{i}"] = np.where(is_new, columns[f"N{i}"], columns[f"N{i - 1}"])
    strong = columns["N0"] + columns["N11"] + columns["N22"]
    noise = rng.normal(size=n)
    odds = 1.2 * (columns["N0"] > 0) + 1.2 * (columns["N11"] > 0)
    if "linked" in name:
        odds = odds + 1.2 * (columns["N22"] > 0)
    if name == "permuted":  # what an exclusive or in a multiplied trait looks like, without it
        noise = rng.permutation(np.exp2(4.0 * ((columns["N0"] > 0) ^ (columns["N1"] > 0)) + noise))
    y = {
        "measured": noise, "permuted": noise, "heavy tails": np.exp(1.5 * noise),
        "values": np.exp(1.5 * noise), "additive": 2.0 * strong + noise,
        "multiplied": np.exp(strong + 0.5 * noise), "linked": 1.0 * strong + noise,
    }  # fmt: skip
    if name in y:
        return columns | {"y": y[name]}
    if name == "main effects" or "linked" in name:
        lowest = 4.5 if "rare" in name else 1.8
        return columns | {"y": rng.random(n) < 1 / (1 + np.exp(lowest - odds))}
    return columns | {"y": rng.permutation(np.arange(n) < (30 if name == "rare cases" else n // 2))}


def run_certificate(arguments: argparse.Namespace) -> None:
    """Compare what a set truly carries with the certificate of the table that it is in."""
    print("| heritability | true bits | tables | certificate, mean bits | set is above it |")
    print("|---|---|---|---|---|")
    for heritability in (0.005, 0.01, 0.02, 0.04):
        above, bounds, bits = 0, [], 0.0
        for seed in range(arguments.tables):
            rng = np.random.default_rng([seed, 7])
            model = pure_model((0.25, 0.5), heritability, 0.5, rng)
            bits = true_bits(model, (0.25, 0.5))
            columns = sample_cases(model, (0.25, 0.5), 2000, 60, rng)
            result = komb.interactions(to_table(columns), "case")
            is_found = any(set(g.columns) == {"M0", "M1"} for g in result.significant)
            bound = max(each.most_bits for each in result.searched)
            bounds.append(bound)
            above += not is_found and bits > bound
        row = f"{heritability} | {bits:.4f} | {arguments.tables} | {np.mean(bounds):.4f} | {above}"
        print(f"| {row} |", flush=True)


def true_bits(penetrance: np.ndarray, mafs: Sequence[float]) -> float:
    """Return what a pure set tells about a case in a sample of half cases, in bits."""
    joint = np.ones(())
    for maf in mafs:
        joint = np.multiply.outer(joint, genotype_shares(maf))
    parts = [joint * (1 - penetrance), joint * penetrance]
    both = np.array([0.5 * part / part.sum() for part in parts])
    expected = 0.5 * both.sum(axis=0)
    return float((both * np.log2(np.maximum(both, 1e-300) / expected)).sum())


def run_orders(arguments: argparse.Namespace) -> None:
    print("| table | order | true set first | found | others found | seconds |")
    print("|---|---|---|---|---|---|")
    for file in _files(arguments):
        data = np.load(file)
        names = data["names"].tolist()
        truth = {name for name in names if name.startswith("M")}
        order = max(len(truth), 2) if not arguments.order else arguments.order
        columns = dict(zip(names, data["genotypes"].T, strict=True)) | {"case": data["case"]}
        began = time.perf_counter()
        result = komb.interactions(to_table(columns), "case", order)
        seconds = time.perf_counter() - began
        found = [set(group.columns) for group in result.significant]
        is_first = bool(truth) and len(result) > 0 and set(result[0].columns) == truth
        others = sum(not group & truth for group in found)
        parts = sum(bool(group & truth) and group != truth for group in found)
        print(f"| {file.stem} | {order} | {is_first} | {truth in found} (parts: {parts}) "
              f"| {others} | {seconds:.1f} |", flush=True)  # fmt: skip


def run_epigen(arguments: argparse.Namespace) -> None:
    print(
        "| table | target | true pairs | found | right | F1 | seconds |\n"
        "|---|---|---|---|---|---|---|"
    )
    scores: dict[tuple[str, str], list[float]] = {}
    for file in _files(arguments):
        data = np.load(file)
        genotypes = data["genotypes"]
        snps = [f"s{i}" for i in range(genotypes.shape[1])]
        truth = {tuple(sorted(pair)) for pair in data["pairs"].tolist()}
        for target in ("phenotype", "binary"):
            columns = dict(zip(snps, genotypes.T, strict=True)) | {"y": data[target]}
            began = time.perf_counter()
            result = komb.interactions(komb.table(columns), "y", scale=arguments.scale)
            seconds = time.perf_counter() - began
            found = {
                tuple(sorted(snps.index(str(n)) for n in g.columns)) for g in result.significant
            }
            right = len(found & truth)
            f1 = 2 * right / (len(found) + len(truth))
            scores.setdefault((file.stem.split("_")[1], target), []).append(f1)
            row = f"{target} | {len(truth)} | {len(found)} | {right} | {f1:.2f} | {seconds:.1f}"
            print(f"| {file.stem} | {row} |", flush=True)
    print()
    for (model, target), values in sorted(scores.items()):
        print(f"- {model}, {target}: mean F1 {np.mean(values):.3f} of {len(values)} tables")


def _files(arguments: argparse.Namespace) -> Iterator[Path]:
    files = sorted(Path(arguments.folder).glob(arguments.only))
    yield from files if arguments.half is None else files[arguments.half :: 2]


def run_speed(arguments: argparse.Namespace) -> None:
    n, width = arguments.rows, arguments.columns
    rng = np.random.default_rng(0)
    codes = rng.binomial(2, rng.uniform(0.05, 0.5, width), (n, width)).astype(np.uint8)
    case = rng.permutation(np.arange(n) < n // 2).astype(np.uint8)
    names = [f"rs{i}" for i in range(width)]
    table = komb.DiscreteTable.from_codes(np.column_stack([codes, case]), [*names, "case"])
    komb.interactions(table.select([*names[:10], "case"]), "case", arguments.order)  # compiles
    count = sum(math.comb(width, size) for size in range(2, arguments.order + 1))
    for threads in (1, 2):
        began, worked = time.perf_counter(), time.process_time()
        komb.interactions(table, "case", arguments.order, n_jobs=threads)
        worked, seconds = time.process_time() - worked, time.perf_counter() - began
        print(
            f"komb, {threads} threads: {seconds:.1f} s, {worked:.1f} s of processors, "
            f"{count / worked / 1e6:.1f} million groups in one of these"
        )
    if arguments.plink and arguments.order == 2:
        _time_plink(arguments.plink, codes, case)


def _time_plink(plink: str, codes: np.ndarray, case: np.ndarray) -> None:
    with tempfile.TemporaryDirectory() as folder:
        _write_bed(Path(folder), codes, case)
        search = ["--fast-epistasis", "boost", "--allow-no-sex"]
        for threads in (1, 2):
            command = [plink, "--bfile", "x", *search, "--threads", str(threads)]
            began, before = time.perf_counter(), os.times()
            subprocess.run(command, cwd=folder, check=True, capture_output=True)
            after = os.times()
            worked = after.children_user - before.children_user
            print(
                f"PLINK --fast-epistasis boost, {threads} threads: "
                f"{time.perf_counter() - began:.1f} s, {worked:.1f} s of processors"
            )


def _write_bed(folder: Path, codes: np.ndarray, case: np.ndarray) -> None:
    from bed_reader import to_bed

    properties = {
        "fid": [f"F{i}" for i in range(len(codes))], "iid": [f"P{i}" for i in range(len(codes))],
        "pheno": [str(1 + int(each)) for each in case],
        "sid": [f"rs{i}" for i in range(codes.shape[1])],
        "chromosome": ["1"] * codes.shape[1],
        "bp_position": [*range(1000, 1000 * codes.shape[1] + 1, 1000)],
        "allele_1": ["A"] * codes.shape[1], "allele_2": ["C"] * codes.shape[1],
    }  # fmt: skip
    to_bed(folder / "x.bed", codes.astype(np.int8), properties=properties)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    power = commands.add_parser("power")
    power.add_argument("--tables", type=int, default=100)
    power.add_argument("--prevalence", type=float, default=0.1)
    power.add_argument("--heritability", type=float, default=0.005)
    power.add_argument("--order", type=int, default=2, choices=(2, 3))
    null = commands.add_parser("null")
    null.add_argument("--tables", type=int, default=100)
    null.add_argument("--columns", type=int, default=200)
    null.add_argument("--kind", choices=NULLS, action="append")
    commands.add_parser("certificate").add_argument("--tables", type=int, default=100)
    for name in ("orders", "epigen"):
        command = commands.add_parser(name)
        command.add_argument("folder")
        command.add_argument("--half", type=int, choices=(0, 1))
        command.add_argument("--only", default="*.npz")
        command.add_argument("--order", type=int)
        command.add_argument("--scale", default="scores")
    speed = commands.add_parser("speed")
    speed.add_argument("--columns", type=int, default=2000)
    speed.add_argument("--rows", type=int, default=3000)
    speed.add_argument("--order", type=int, default=2)
    speed.add_argument("--plink")
    arguments = parser.parse_args()
    command_line = shlex.join(["python", "benchmarks/interactions.py", *sys.argv[1:]])
    print(f"```sh\n{command_line}\n```\n", flush=True)
    globals()[f"run_{arguments.command}"](arguments)


if __name__ == "__main__":
    main()
