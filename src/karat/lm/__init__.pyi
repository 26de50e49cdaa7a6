"""The public names of language models, one line each; see `karat.exports`."""

from karat.lm.model import LanguageModel as LanguageModel
from karat.lm.model import TrainedModel as TrainedModel
from karat.lm.model import train_model as train_model
from karat.lm.scoring import LanguageScores as LanguageScores
from karat.lm.scoring import score_texts as score_texts
from karat.text.recipe import Recipe as Recipe

__all__: list[str]
