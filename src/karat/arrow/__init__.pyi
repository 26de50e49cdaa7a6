"""The public names of Arrow tables, one line each; see `karat.exports`."""

from karat.arrow.merged import Merged as Merged
from karat.arrow.merged import merge as merge
from karat.arrow.merged import stats as stats
from karat.arrow.merged import sums as sums
from karat.arrow.tables import SUMS_SCHEMA as SUMS_SCHEMA
from karat.arrow.tables import DataTable as DataTable
