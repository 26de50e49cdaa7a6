from karat.realize.evaluation import RealizerEvaluation as RealizerEvaluation
from karat.realize.evaluation import evaluate_realizer as evaluate_realizer
from karat.realize.explanation import RealizedTree as RealizedTree
from karat.realize.explanation import SupertagList as SupertagList
from karat.realize.explanation import explain_demo as explain_demo
from karat.realize.explanation import explain_tree as explain_tree
from karat.realize.explanation import list_supertags as list_supertags
from karat.realize.fergus import Fergus as Fergus
from karat.realize.generation import RealizedSentences as RealizedSentences
from karat.realize.generation import realize_trees as realize_trees
from karat.realize.input_trees import InputTrees as InputTrees
from karat.realize.input_trees import Realizer as Realizer
from karat.realize.input_trees import WordOrder as WordOrder
from karat.realize.input_trees import input_trees as input_trees
from karat.realize.input_trees import read_input as read_input
from karat.realize.input_trees import read_trees as read_trees
from karat.realize.lattice import unravel as unravel
from karat.realize.model import RealizerModel as RealizerModel
from karat.realize.model import RealizerTraining as RealizerTraining
from karat.realize.model import open_realizer as open_realizer
from karat.realize.model import train_realizer as train_realizer
from karat.realize.model import train_realizer_file as train_realizer_file
from karat.realize.ordering import OrderingModel as OrderingModel
from karat.realize.treebank import Treebank as Treebank
from karat.realize.treebank import read_treebank as read_treebank

__all__: list[str]
