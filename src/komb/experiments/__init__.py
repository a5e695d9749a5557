"""The experiments of the paper, run again: ``komb reproduce`` on the command line.

>>> import tempfile
>>> from komb.experiments import reproduce
>>> with tempfile.TemporaryDirectory() as folder:
...     run = reproduce("intro", folder, samples=1, targets=1, jobs=1)
>>> sorted({record.method for record in run.records})[:3]
['bamb', 'gs', 'hiton-mb']
"""

from komb.experiments.records import Journal, Record, SeparatorRecord
from komb.experiments.reproduction import Reproduction, reproduce
from komb.experiments.runner import RunProgress

__all__ = ["Journal", "Record", "Reproduction", "RunProgress", "SeparatorRecord", "reproduce"]
