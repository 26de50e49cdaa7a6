"""The public names of language models, one line each; see `karat.exports`."""

from karat.lm.model import LanguageModel as LanguageModel
from karat.lm.model import LanguageScores as LanguageScores
from karat.lm.model import score_texts as score_texts
from karat.lm.training import TrainedModel as TrainedModel
from karat.lm.training import train_model as train_model
from karat.text.tokens import Recipe as Recipe

__all__: list[str]
