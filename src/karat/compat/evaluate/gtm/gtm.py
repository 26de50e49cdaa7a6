"""The General Text Matcher for HF `evaluate`: arguments are the settings of `karat metrics gtm`."""

from karat.compat import evaluate_base as base


class Gtm(base.KaratModule):
    """The General Text Matcher, by Karat."""

    metric_name = "gtm"
