"""Every reader of the product: what it is given, and how it is called."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from fuzz import samples
from fuzz.damage import Files

Read = Callable[[Path], object]


class Reader(NamedTuple):
    """What makes valid files, and what reads the folder that they are in."""

    sample: Callable[[random.Random], Files]
    read: Read


def evalset(name: str = "", format: str | None = None, **options: str) -> Read:
    """Load an evaluation set and go through all of it."""

    def read(folder: Path) -> object:
        import karat as kt

        loaded_set = kt.load_evalset(folder / name if name else folder, format, **options)
        return (
            len(list(loaded_set.judgements)),
            loaded_set.systems,
            loaded_set.references,
            loaded_set.trees,
        )

    return read


def inspect_logs(folder: Path) -> object:
    """Load a log of inspect_ai, in whichever form it is."""
    names = [name for name in ("l.eval", "l.json") if (folder / name).exists()]
    return evalset(names[0] if names else "", "inspect", scores="f")(folder)


def nuggets(name: str = "", **parts: str) -> Read:
    """Load nuggets and score the runs."""

    def read(folder: Path) -> object:
        import karat as kt

        part_paths = {part: folder / file for part, file in parts.items()}
        loaded_set = kt.load_nuggets(folder / name if name else folder, **part_paths)
        return len(loaded_set.judgements.rows), loaded_set.runs

    return read


def score_files(folder: Path) -> object:
    """Read all files of scores; the first that is wrong is refused."""
    from karat.evalset.formats.score_files import read_scores

    files = ("s.tsv", "bare.tsv", "s.jsonl", "s.seg.score", "s.sys.score")
    score_sets = [read_scores(str(folder / name)) for name in files]
    score_sets.append(read_scores(str(folder / "s.csv"), "score"))
    return [scores.digest for scores in score_sets]


def log(folder: Path) -> None:
    """Read a log of judgements."""
    import karat as kt

    kt.load_nuggets("demo-nuggets", judgements=folder / "log.jsonl")


def scored(candidate: str, reference: str, *names: str) -> Read:
    """Score one file against the other."""

    def read(folder: Path) -> object:
        import karat as kt

        files = folder / candidate, folder / reference
        return [kt.metric(n).corpus(files[0], files[1], threads=1) for n in names]

    return read


def tree_references(folder: Path) -> object:
    """Score text against trees."""
    import karat as kt
    from karat.text.trees import read_conllu

    trees = read_conllu(folder / "t.conllu")
    return kt.metric("simple_tree_accuracy").corpus(folder / "x.txt", trees, threads=1)


def trees(folder: Path) -> object:
    """Read trees as input of realisers."""
    from karat.realize.input_trees import read_trees

    return read_trees(folder / "t.conllu", "all")


def bertscore_baseline(folder: Path) -> object:
    """Baselines of BERTScore by layer."""
    from karat.metrics.bertscore import baseline_digest, read_baseline

    path = str(folder / "b.tsv")
    return read_baseline(path, 1, baseline_digest(path))


def gate_baseline(folder: Path) -> object:
    """Gate a run against a baseline."""
    import karat as kt

    texts = ["the cat sat", "on the mat", "of the house"]
    return kt.gate(texts, texts, baseline=folder / "gate.tsv").rows


def language_model(name: str) -> Read:
    """Open a model and score a few words."""

    def read(folder: Path) -> object:
        from karat.lm.model import LanguageModel

        model = LanguageModel.open(folder / name)
        return model.score(["a b", "the cat zz", ""], threads=1), model.words("a b cat")

    return read


def phrase_table(folder: Path) -> object:
    """Open a table and look all phrases up."""
    from karat.paraphrase.table.phrase_table import PhraseTable

    table = PhraseTable.open(folder / "t.npz")
    return [(table.phrase(n), table.translations(n), table.count(n)) for n in range(len(table))]


def moses(folder: Path) -> object:
    from karat.paraphrase.table.moses import read_moses

    return read_moses(folder / "t.moses")


def pharaoh(folder: Path) -> object:
    from karat.paraphrase.align.parallel_text import read_pharaoh

    return read_pharaoh(folder / "a.txt")


def parallel(folder: Path) -> object:
    from karat.paraphrase.align.parallel_text import read_parallel

    return read_parallel(folder / "p.tsv")


def pem(folder: Path) -> object:
    """Open a paraphrase model and score a pair."""
    from karat.paraphrase.pem.model import PEM

    return PEM.open(folder / "m.npz").score(["the house is big"], ["the big house"], threads=1)


def realizer(folder: Path) -> object:
    """Open a realiser and order a tree."""
    from karat.realize.input_trees import read_trees
    from karat.realize.model import open_realizer

    (folder / "t.conllu").write_text(
        "1\tthe\t_\tDET\t_\t_\t2\tdet\t_\t_\n2\tcat\t_\tNOUN\t_\t_\t3\tnsubj\t_\t_\n"
        "3\tsat\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n"
    )
    trees = read_trees(folder / "t.conllu", "words")
    return [model.realize(trees, 1) for model in open_realizer(folder / "m.npz").realizers("words")]


def experiment(folder: Path) -> object:
    from karat.evalset.reading import read_text
    from karat.meta.experiment import read_experiment

    return read_experiment(read_text(folder / "e.toml"), "e.toml")


def metric_string(folder: Path) -> object:
    """Parse a metric as it comes from the command line."""
    import karat as kt

    path = folder / "metric"
    metric_bytes = path.read_bytes() if path.exists() else b""
    return kt.metric(metric_bytes.decode("utf-8", "surrogateescape"))


def sgml(folder: Path) -> object:
    from karat.evalset.aligned_texts import load_texts

    file = folder / "x.txt"
    return load_texts({"system": file}, [file])


def stop_list(folder: Path) -> object:
    from karat.text.tokens import stop_words

    return stop_words(str(folder / "stop.txt"))


def spans(folder: Path) -> object:
    """Compare the spans in all files of a folder."""
    import karat as kt

    return len(kt.compare_spans(sorted(folder.iterdir())).rows)


def challenge(folder: Path) -> object:
    """Read a folder of tables of pairs."""
    import karat as kt

    return len(kt.read_challenge(folder))


def table(name: str) -> Read:
    """Score the rows of a table, and read all of its columns."""

    def read(folder: Path) -> object:
        from karat.arrow.columns import Columns
        from karat.arrow.jobs import TableJob
        from karat.arrow.pieces import plan_pieces, table_format
        from karat.arrow.tables import sign_metric
        from karat.metrics.names import metric

        path = str(folder / name)
        job = TableJob(Columns(), (sign_metric(metric("bleu")),))
        pieces = plan_pieces([path])
        batch_sizes = [
            len(batch) for piece in pieces for batch in table_format(path).read(piece, None)
        ]
        return batch_sizes, [job.measure_piece(piece).n_rows for piece in pieces]

    return read


def records(*names: str) -> Read:
    """Read the records of the file that is there, and of its beginning."""

    def read(folder: Path) -> object:
        from karat.tables.files import is_table, read_table

        path = next((folder / name for name in names if (folder / name).exists()), folder)
        is_table(path)
        read_table(path, limit=1)
        table = read_table(path)
        return [table.location(row) for row in range(len(table.records))], table.remarks

    return read


def outputs(folder: Path) -> object:
    """Read the outputs and ratings of the table that is there."""
    import karat as kt

    file = next(iter(sorted(folder.glob("export.*"))), folder / "export.csv")
    loaded_set = kt.read_outputs(file)
    return loaded_set.digest, loaded_set.remarks


READERS = {
    "scores": Reader(samples.given_scores, score_files),
    "gate baseline": Reader(samples.gate_baseline, gate_baseline),
    "bertscore baseline": Reader(samples.bertscore_baseline, bertscore_baseline),
    "evalset dir": Reader(samples.directory, evalset(format="dir")),
    "evalset jsonl": Reader(samples.evalset_jsonl, evalset("set.jsonl", "jsonl")),
    "evalset dir, trees": Reader(samples.parsed_directory, evalset(format="dir")),
    "evalset jsonl, trees": Reader(samples.parsed_jsonl, evalset("set.jsonl", "jsonl")),
    "evalset mqm": Reader(samples.mqm, evalset("rows.tsv", "mqm")),
    "evalset believability": Reader(samples.believability, evalset(format="believability")),
    "evalset e2e": Reader(samples.e2e, evalset(format="e2e")),
    "evalset realsumm": Reader(samples.units, evalset(format="realsumm")),
    "evalset summeval": Reader(samples.summeval, evalset("s.jsonl", "summeval")),
    "evalset summeval annotations": Reader(
        samples.summeval_annotations, evalset("s.jsonl", "summeval-annotations", judges="all")
    ),
    "evalset lm-eval": Reader(samples.lm_eval, evalset(format="lm-eval", scores="exact_match")),
    "evalset inspect": Reader(samples.inspect_log, inspect_logs),
    "evalset appraise": Reader(samples.appraise, evalset("c.csv", "appraise", texts="demo")),
    "evalset rag24": Reader(samples.rag, evalset("n.jl", "rag24")),
    "evalset mt-metrics-eval": Reader(samples.mt_metrics_eval, evalset(format="mt-metrics-eval")),
    "evalset paraphrases": Reader(samples.paraphrases, evalset("p.tsv", "paraphrases")),
    "evalset judged-paraphrases": Reader(
        samples.judged_paraphrases, evalset("p.tsv", "judged-paraphrases")
    ),
    "evalset detected": Reader(samples.summeval, evalset()),
    "gtm sgml": Reader(samples.gtm_sgml, sgml),
    "nuggets trec": Reader(samples.trec, nuggets()),
    "nuggets jsonl": Reader(samples.nuggets_jsonl, nuggets("n.jsonl")),
    "nuggets rag": Reader(samples.rag, nuggets("n.jl")),
    "nuggets units": Reader(samples.units, nuggets()),
    "nuggets log": Reader(samples.judging_log, log),
    "segments": Reader(samples.segments, scored("x.txt", "r.txt", "bleu", "rougeLsum")),
    "segments gz": Reader(samples.packed_segments, scored("x.txt.gz", "r.txt.gz", "chrf", "ter")),
    "conllu references": Reader(samples.conllu, tree_references),
    "conllu trees": Reader(samples.conllu, trees),
    "lm arpa": Reader(samples.arpa, language_model("m.arpa")),
    "lm binary": Reader(samples.language_model, language_model("m.lm")),
    "moses": Reader(samples.moses, moses),
    "phrase table": Reader(samples.phrase_table, phrase_table),
    "pharaoh": Reader(samples.pharaoh, pharaoh),
    "parallel": Reader(samples.parallel, parallel),
    "pem model": Reader(samples.pem, pem),
    "realiser model": Reader(samples.realizer, realizer),
    "experiment": Reader(samples.experiment, experiment),
    "metric string": Reader(samples.metric_string, metric_string),
    "stop list": Reader(samples.stop_list, stop_list),
    "table csv": Reader(samples.csv_table, table("t.csv")),
    "table tsv": Reader(samples.tsv_table, table("t.tsv.gz")),
    "table jsonl": Reader(samples.jsonl_table, table("t.jsonl")),
    "outputs": Reader(samples.exports, outputs),
    "spans": Reader(samples.spans, spans),
    "challenge set": Reader(samples.challenge, challenge),
    "records csv": Reader(samples.csv_records, records("t.csv")),
    "records text": Reader(samples.encoded_records, records("t.csv")),
    "records json": Reader(samples.json_records, records("t.json")),
    "records jsonl": Reader(samples.jsonl_table, records("t.jsonl")),
    "records workbook": Reader(samples.workbook, records("t.xlsx")),
    "records parquet": Reader(samples.parquet, records("t.parquet")),
}
