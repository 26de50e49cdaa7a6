"""`import karat.polars` gives every data frame of Polars an accessor: `df.karat.score(…)`."""

from __future__ import annotations

from polars.api import register_dataframe_namespace

from karat.api import KaratAccessor

register_dataframe_namespace("karat")(KaratAccessor)
