"""The public names of Arrow tables, one line each; see `karat.exports`."""

from karat.arrow.statistics import TableStatistics as TableStatistics
from karat.arrow.tables import SUMS_SCHEMA as SUMS_SCHEMA
from karat.arrow.tables import DataTable as DataTable
from karat.arrow.tables import merge as merge
from karat.arrow.tables import stats as stats
from karat.arrow.tables import sums as sums
