"""The experiments of the paper, run again: ``komb reproduce`` on the command line.

>>> import tempfile
>>> from komb.reproduction import reproduce
>>> with tempfile.TemporaryDirectory() as folder:
...     run = reproduce("intro", folder, samples=1, targets=1, jobs=1)
>>> sorted({record.method for record in run.records})[:3]
['bamb', 'gs', 'hiton-mb']
"""

from komb.reproduction.experiments import Record, SeparatorRecord
from komb.reproduction.reproduction import Reproduction, reproduce

__all__ = ["Record", "Reproduction", "SeparatorRecord", "reproduce"]
