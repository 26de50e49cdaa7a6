"""The public names of paraphrases, one line each; see `karat.exports`."""

from karat.paraphrase.align.aligner import Aligner as Aligner
from karat.paraphrase.align.alignment import WordAlignment as WordAlignment
from karat.paraphrase.align.alignment import align_text as align_text
from karat.paraphrase.align.alignment import align_words as align_words
from karat.paraphrase.align.parallel_text import Links as Links
from karat.paraphrase.align.parallel_text import Parallel as Parallel
from karat.paraphrase.align.parallel_text import parallel_tokens as parallel_tokens
from karat.paraphrase.align.parallel_text import read_parallel as read_parallel
from karat.paraphrase.align.parallel_text import read_pharaoh as read_pharaoh
from karat.paraphrase.generate.paraphraser import GeneratedParaphrases as GeneratedParaphrases
from karat.paraphrase.generate.paraphraser import generate_paraphrases as generate_paraphrases
from karat.paraphrase.pem.evaluation import ParaphraseEvaluation as ParaphraseEvaluation
from karat.paraphrase.pem.evaluation import evaluate_paraphrases as evaluate_paraphrases
from karat.paraphrase.pem.features import PivotSettings as PivotSettings
from karat.paraphrase.pem.features import f1 as f1
from karat.paraphrase.pem.features import pivot_statistics as pivot_statistics
from karat.paraphrase.pem.features import pooled_f1 as pooled_f1
from karat.paraphrase.pem.features import target_statistics as target_statistics
from karat.paraphrase.pem.judged_pairs import add_controls as add_controls
from karat.paraphrase.pem.judged_pairs import judged_rows as judged_rows
from karat.paraphrase.pem.metrics import PEMMetric as PEMMetric
from karat.paraphrase.pem.metrics import PivotF1 as PivotF1
from karat.paraphrase.pem.model import PEM as PEM
from karat.paraphrase.pem.scoring import PairExplanation as PairExplanation
from karat.paraphrase.pem.scoring import ParaphraseExplanations as ParaphraseExplanations
from karat.paraphrase.pem.scoring import ParaphraseScores as ParaphraseScores
from karat.paraphrase.pem.scoring import explain_pair as explain_pair
from karat.paraphrase.pem.scoring import explain_paraphrases as explain_paraphrases
from karat.paraphrase.pem.scoring import score_paraphrases as score_paraphrases
from karat.paraphrase.pem.training import Pivot as Pivot
from karat.paraphrase.pem.training import train_pem as train_pem
from karat.paraphrase.table.moses import read_moses as read_moses
from karat.paraphrase.table.moses import write_moses as write_moses
from karat.paraphrase.table.phrase_table import PhraseTable as PhraseTable
from karat.paraphrase.table.training import extract_phrases as extract_phrases
from karat.paraphrase.table.training import train_pivot as train_pivot
from karat.paraphrase.written_files import WrittenFile as WrittenFile
from karat.paraphrase.written_files import convert_table as convert_table
from karat.paraphrase.written_files import make_table as make_table
from karat.paraphrase.written_files import train_model as train_model
from karat.paraphrase.written_files import write_controls as write_controls
from karat.text.tokens import Recipe as Recipe

__all__: list[str]
