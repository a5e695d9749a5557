"""One page about a column: its data, its blanket, why, and what other methods say."""

from komb.reporting.files import check_page
from komb.reporting.making import Report, report

__all__ = ["Report", "check_page", "report"]
