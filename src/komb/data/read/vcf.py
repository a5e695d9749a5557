"""VCF files: ``.vcf`` and ``.vcf.gz``, whose field ``GT`` has the genotypes.

The alternate allele is counted, so the codes are those of the ``.bed`` file that PLINK 2 makes of
it. A haploid ``1`` is two copies, as there; where one allele of two was not called, the genotype
was not.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl

from komb.data.levels import Array
from komb.data.read.cohort import (
    PERSON,
    VARIANT,
    GenotypeFormat,
    Genotypes,
    Positions,
    register_genotypes,
)
from komb.data.read.file_bytes import check_text, mapped_file, shorten
from komb.errors import Argument, DataError, FileError

_FIXED = ["CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT"]
_AT_ONCE = 1 << 20  # genotypes that are looked at at a time, about
_TAB, _COLON = b"\t:"
_MISSING, _ODD = 3, 9
_COPIES = np.full(256, _ODD, np.uint8)  # by the letter of an allele
_COPIES[[*b"01."]] = 0, 1, _MISSING


class Sites:
    """The lines below ``#CHROM``, of a VCF file or of the ``.pvar`` file that is like one."""

    def __init__(self, file: Path, data: mmap.mmap) -> None:
        check_text(file, data)
        self._file, self._data = file, data
        self._n_above, self._start, end = 0, 0, data.find(b"\n") + 1 or len(data)
        while data[self._start : self._start + 2] == b"##":
            self._n_above, self._start = self._n_above + 1, end
            end = data.find(b"\n", end) + 1 or len(data)
        self.names = data[self._start : end].decode().rstrip("\r\n").removeprefix("#").split("\t")

    def read(self, n_fields: int) -> Iterator[tuple[int, list[bytes], int, int]]:
        """Yield the number of a line, its first fields, and from where to where the others are."""
        end = self._data.find(b"\n", self._start) + 1 or len(self._data)
        number, others = self._n_above + 1, len(self.names) - n_fields
        while end < len(self._data):
            start, end = end, self._data.find(b"\n", end) + 1 or len(self._data)
            number, line = number + 1, self._data[start:end].rstrip(b"\r\n")
            fields = line.split(b"\t", n_fields)
            rest = fields[n_fields] if len(fields) > n_fields else b""
            n_found = len(fields) + rest.count(b"\t")
            if n_found == n_fields + others:
                yield number, fields[:n_fields], start + len(line) - len(rest), start + len(line)
            elif line:
                raise FileError(
                    f"{shorten(self._file)} must have {n_fields + others:,} fields on every line, "
                    f"as its line of names, with tabs between; line {number:,} has {n_found:,}.",
                    "If the file is cut off, copy it again.",
                )


def to_variants(fields: list[list[bytes]]) -> pl.DataFrame:
    """Return what is known of variants, by the first five fields of their lines."""
    if not fields:
        raise DataError("there are no variants below the names.", "Check how it was written.")
    order = 0, 1, 2, 4, 3  # CHROM, POS, ID, ALT and REF
    text = [[each[i].decode() for each in fields] for i in order]
    return pl.DataFrame(dict(zip(VARIANT, text, strict=True)))


@contextmanager
def open_vcf(file: Path, limit: int) -> Iterator[Genotypes]:
    """Open a VCF file; it is unpacked on the disk if it is compressed."""
    with mapped_file(file, limit, 1) as (_, data):
        sites, n_fixed = Sites(file, data), len(_FIXED)
        people = sites.names[n_fixed:]
        if sites.names[:n_fixed] != _FIXED or not people:
            raise FileError(
                f"{shorten(file)} must have a line that begins with '#{' '.join(_FIXED)}', with "
                "tabs between, and names of people behind.",
                "Check that it is a VCF file with genotypes.",
            )
        lines = list(sites.read(n_fixed))
        for number, fields, _, _ in lines:
            if fields[-1].split(b":", 1)[0] != b"GT":
                said = fields[-1].decode()
                message = "GT, called genotypes, must be the first part of "
                remedy = "Of doses PLINK 2 calls some: plink2 --vcf ... dosage=DS --make-pgen."
                raise DataError(f"{message}every FORMAT; line {number:,} has {said!r}.", remedy)
        variants = to_variants([fields for _, fields, _, _ in lines])
        step = max(1, _AT_ONCE // len(people))

        def decode(some: Positions, variants: Positions) -> Array:
            values = np.empty((len(variants), len(some)), np.uint8)
            for first in range(0, len(variants), step):
                own = [lines[i] for i in variants[first : first + step].tolist()]
                text = b"\t".join([data[start:end] for _, _, start, end in own])
                found = _count_copies(text).reshape(len(own), -1)
                _refuse_odd(found, text, [number for number, *_ in own], people)
                values[first : first + step] = found[:, some]
            return values.T

        yield Genotypes(pl.DataFrame({PERSON[1]: people}), variants, ("the VCF file",) * 2, decode)


def _count_copies(text: bytes) -> Array:
    """Return copies of the alternate allele for each field: 3 or more if it was not called."""
    letters = np.frombuffer(text + b"\t\t\t\t", np.uint8)
    ends = np.flatnonzero(letters[: len(text) + 1] == _TAB)
    starts = np.concatenate([[0], ends[:-1] + 1])
    first, mark, second, after = (letters[starts + i] for i in range(4))
    is_haploid = (mark == _TAB) | (mark == _COLON)
    is_diploid = (mark == ord("/")) | (mark == ord("|"))
    is_diploid &= (after == _TAB) | (after == _COLON)
    a, b = _COPIES[first], _COPIES[second]
    copies = np.where(is_haploid, 2 * a, a + b)
    is_odd = (a == _ODD) | ~(is_haploid | (is_diploid & (b != _ODD)))
    return np.where(is_odd, np.uint8(255), copies)


def _refuse_odd(found: Array, text: bytes, numbers: list[int], people: list[str]) -> None:
    """Raise for the first genotype that is none of a diploid person and two alleles."""
    odd = np.argwhere(found == 255)
    if len(odd):
        line, person = odd[0].tolist()
        shown = text.split(b"\t")[line * len(people) + person].decode()[:20]
        raise DataError(
            "genotypes must be such as 0/1, 1|1, ./. or 1, of two alleles; line "
            f"{numbers[line]:,} has {shown!r} for {people[person]!r}.",
            ("Leave such variants out, or name others by ", Argument("extract"), "."),
        )


register_genotypes(
    GenotypeFormat((".vcf", ".vcf.gz"), open_vcf, (), "plink2 --vcf ... --geno 0.99 --export vcf")
)
