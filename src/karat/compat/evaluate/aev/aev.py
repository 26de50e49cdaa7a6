"""The n-gram family AEv for HF `evaluate`: arguments are the settings of `karat metrics aev`."""

from karat.compat import evaluate_base as base


class Aev(base.KaratModule):
    """The n-gram family AEv, by Karat."""

    metric_name = "aev"
