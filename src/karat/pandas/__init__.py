"""`import karat.pandas` gives every data frame of pandas an accessor: `df.karat.score(…)`."""

from __future__ import annotations

from pandas.api.extensions import register_dataframe_accessor

from karat.api import KaratAccessor

register_dataframe_accessor("karat")(KaratAccessor)
