"""Options that the commands of `karat paraphrase` share."""

from __future__ import annotations

from karat.cli.parameters import option, path

originals = option("--originals", "The originals, line by line beside them.", path, required=True)
model = option(
    "--model",
    "A model of karat paraphrase train; bundled is a small one for trying out only.",
    default="bundled",
)
