"""Valid small files of every format, drawn from a seed."""

from __future__ import annotations

import gzip
import io
import json
import random
import tempfile
import zipfile
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from fuzz.damage import Files

WORDS = ("a", "b", "the", "cat", "sat", "Ünï", "価格", ".", ",", "10%", "x-y", "don't", "=", "1/2")


def sentence(dice: random.Random, most: int = 6) -> str:
    """Some words."""
    return " ".join(dice.choices(WORDS, k=dice.randint(1, most)))


def text(dice: random.Random, count: int) -> bytes:
    """As many lines."""
    return "".join(f"{sentence(dice)}\n" for _ in range(count)).encode()


def rows(*items: tuple[Any, ...], by: str = "\t") -> bytes:
    """Lines of fields."""
    return "".join(f"{by.join(map(str, item))}\n" for item in items).encode()


def objects(*items: object) -> bytes:
    """JSON lines."""
    return "".join(f"{json.dumps(item)}\n" for item in items).encode()


# ------------------------------------------------------------------------------ evaluation sets


def directory(dice: random.Random) -> Files:
    """Karat's own folder."""
    n = dice.randint(1, 3)
    human = [("A", dice.randint(1, n), "x", "good", dice.randint(1, 5)), ("B", n, "y", "good", 2.5)]
    settings = '[[dimension]]\nname = "good"\nbetter = "lower"\nlow = 0\nhigh = 9\n'
    return {
        "karat.toml": settings.encode(),
        "systems/A.txt": text(dice, n),
        "systems/B.txt": text(dice, n),
        "references/1.txt": text(dice, n),
        "human.tsv": rows(("system", "segment", "judge", "dimension", "value"), *human),
    }


def parsed_directory(dice: random.Random) -> Files:
    """Karat's own folder with trees, instead of the references or beside them."""
    n = dice.randint(1, 3)
    row = "{}\t{}\t_\t_\t_\t_\t{}\t_\t_\t_\n"
    sentence = "".join(row.format(i, word, i - 1) for i, word in enumerate(("a", "b c", "d"), 1))
    files = {
        "karat.toml": b"optional-references = true\n",
        "systems/A.txt": text(dice, n),
        "references/1.conllu": f"# sent_id = s\n{sentence}\n".encode() * n,
    }
    return files | ({"references/1.txt": text(dice, n)} if dice.random() < 0.5 else {})


def parsed_jsonl(dice: random.Random) -> Files:
    """Karat's JSON lines with trees."""
    trees = [{"words": ["a", "b"], "heads": [2, 0], "id": "s"}, {"words": ["a"], "heads": [0]}]
    row = {"id": "1", "outputs": {"A": "a b"}, "trees": trees[: dice.randint(1, 2)]}
    return {"set.jsonl": objects(row)}


def evalset_jsonl(dice: random.Random) -> Files:
    """Karat's JSON lines, as it writes them."""
    return {"set.jsonl": _saved_evalset(dice.randrange(4))}


@cache
def _saved_evalset(seed: int) -> bytes:
    import karat as kt

    dice = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, content in directory(dice).items():
            (folder / "set" / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / "set" / file).write_bytes(content)
        kt.save_evalset(kt.load_evalset(folder / "set"), folder / "set.jsonl", "jsonl")
        return (folder / "set.jsonl").read_bytes()


def exports(dice: random.Random) -> Files:
    """An export of another tool."""
    folder = Path(__file__).parents[1] / "tables" / "exports"
    file = dice.choice(sorted(folder.iterdir()))
    return {f"export{file.suffix}": file.read_bytes()}


def mqm(dice: random.Random) -> Files:
    """WMT's rows of errors."""
    head = (
        "system",
        "doc",
        "doc_id",
        "seg_id",
        "rater",
        "source",
        "target",
        "category",
        "severity",
    )
    kinds = (("Accuracy/Mistranslation", "Major"), ("Fluency/Punctuation", "Minor"),
             ("No-error", "No-error"), ("Non-translation!", "Major"))  # fmt: skip
    error_rows = [
        (system, "d", 1, segment, "r1", f"s{segment}", f"<v>{sentence(dice)}</v>",
         *dice.choice(kinds))
        for system in ("A", "B", "refA") for segment in (1, 2)
    ]  # fmt: skip
    return {"rows.tsv": rows(head, *error_rows)}


def believability(dice: random.Random) -> Files:
    """Adequacy, fluency and believability."""
    head = "SEGID,LANGPAIR,ANNOTYPE,NUMANNOT,ANNOTATOR_01,ANNOTATOR_02\n"
    files: Files = {
        f"annotations/xx-en/xx-en.{kind}.annot.raw.csv": (
            f"{head}1,xx-en,{kind},2,{dice.randint(0, 100)}.0,nan\n2,xx-en,{kind},1,0.0,7\n"
        ).encode()
        for kind in ("ad", "fl", "bl")
    }
    texts = ("mt_output/xx-en.general.tok.en", "test/ted_test1.tok.en", "test/ted_test1.raw.en")
    return files | {f"text/{n}": text(dice, 2) for n in (*texts, "test/ted_test1_en-xx.raw.xx")}


def given_scores(dice: random.Random) -> Files:
    """Scores of another program in every format of text."""
    scored = [(s, i, dice.choice(["", round(dice.random(), 2)])) for s in "AB" for i in (1, 2)]
    items = [*scored, ("A", "-", 0.5), ("B", 3, 1)]
    header = ("system", "segment", "score")
    return {
        "s.tsv": rows(header, *items),
        "bare.tsv": rows(*items),
        "s.csv": rows((*header, "other"), *((*item, "x") for item in items), by=","),
        "s.jsonl": objects(*(dict(zip(header, item, strict=True)) for item in items)),
        "s.seg.score": rows(*((s, x or "None") for s, _, x in scored)),
        "s.sys.score": rows(("A", 0.5), ("B", dice.random())),
    }


def e2e(dice: random.Random) -> Files:
    """The E2E challenge."""
    head = "_worker_id,mr_id,sys1,sys2,sys3,sys4,sys5,{0}1,{0}2,{0}3,{0}4,{0}5\nw1,1,A,B,C,D,E,"
    rated = {
        f"{name}.nopii.csv": f"{head.format(short)}{','.join(dice.choices('123456', k=5))}\n"
        for name, short in (("naturalness", "natur"), ("quality", "quality"))
    }
    outputs = {f"primary/{n}.tsv": 'MR\toutput\n"in, 1"\tone\nin 2\ttwo\n' for n in "ABCDE"}
    tests = {"testset_w_refs.csv": 'mr,ref\n"in, 1",r1\n"in, 1",r1b\nin 2,r2\n'}
    return {name: content.encode() for name, content in (rated | outputs | tests).items()}


def units(dice: random.Random) -> Files:
    """Content units, which evaluation sets and nuggets read."""
    return {
        "ids.txt": b"d1\nd2\n",
        "documents.txt": text(dice, 2),
        "references.txt": b"<t> one . </t> <t> two . </t>\nthree\n",
        "SCUs.txt": b"u1\tu2\tu3\nu1\n",
        "summaries/A.summary": text(dice, 2),
        "labels/A.label": f"{dice.randint(0, 1)}\t0\t1\n1\n".encode(),
    }


def summeval(dice: random.Random) -> Files:
    """SummEval."""
    scores = {"coherence": dice.randint(1, 5), "fluency": 4.5}
    document = {"id": "d1", "source": sentence(dice), "references": ["r1", sentence(dice)]}
    systems = {name: {"summary": sentence(dice), "scores": scores} for name in ("M1", "M2")}
    return {
        "s.jsonl": objects(
            document | {"systems": systems}, document | {"id": "d2", "systems": systems}
        )
    }


def summeval_annotations(dice: random.Random) -> Files:
    """SummEval with the ratings of each annotator."""
    ratings = [dict.fromkeys(("coherence", "consistency", "fluency", "relevance"), 3)]
    both = {f"{kind}_annotations": ratings * dice.randint(1, 3) for kind in ("expert", "turker")}
    document = {"id": "d1", "decoded": sentence(dice), "references": ["r1", "r2"], **both}
    return {"s.jsonl": objects(document | {"model_id": "M1"}, document | {"model_id": "M2"})}


def lm_eval(dice: random.Random) -> Files:
    """Samples of lm-evaluation-harness, of two models."""

    def sample(number: int) -> dict[str, Any]:
        text = sentence(dice)
        score = {"filter": "none", "metrics": ["exact_match"], "exact_match": dice.random()}
        request = {"arguments": {"gen_args_0": {"arg_0": "Q: a", "arg_1": {}}}}
        target = {"doc_id": number, "target": "['a', 'b']"}
        return {**target, **request, **score, "resps": [[text]], "filtered_resps": [text]}

    name = "samples_t_2026-01-02T10-00-00.jsonl"
    return {f"{model}/{name}": objects(sample(0), sample(1)) for model in ("m", "n")}


def inspect_log(dice: random.Random) -> Files:
    """A log of inspect_ai, zipped and as JSON."""
    header = {"version": 2, "eval": {"model": "m", "task": "t"}}
    message = {"message": {"role": "assistant", "content": sentence(dice)}}
    log_sample = {"id": "a", "input": "q", "target": ["x", "y"], "output": {"choices": [message]}}
    samples = [log_sample | {"epoch": n, "scores": {"f": {"value": "C"}}} for n in (1, 2)]
    place = io.BytesIO()
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("header.json", json.dumps(header))
        for sample in samples:
            file.writestr(f"samples/a_epoch_{sample['epoch']}.json", json.dumps(sample))
    log_text = json.dumps(header | {"samples": samples})
    return {"l.eval": place.getvalue()} if dice.random() < 0.5 else {"l.json": log_text.encode()}


def appraise(dice: random.Random) -> Files:
    """A campaign of Appraise, whose texts are the bundled ones."""
    spans = '"[{""severity"":""major"",""error_type"":[""Style""]}]"'
    campaign_rows = [
        ("ann", f"x.{system}", item, "TGT", "en", "de", dice.randint(0, 100), f"{group}#{system}",
         "False", spans, "1.5", "2.5")
        for system in ("atlas", "beacon") for group in ("page-1", "page-2") for item in range(4)
    ]  # fmt: skip
    return {"c.csv": rows(*campaign_rows, by=",")}


def rag(dice: random.Random) -> Files:
    """Nugget assignments."""
    labels = ("support", "partial_support", "not_support")

    def answer(run: str) -> dict[str, Any]:
        nuggets = [
            {"text": name, "importance": worth, "assignment": dice.choice(labels)}
            for name, worth in (("n1", "vital"), ("n2", "okay"))
        ]
        reply = {"qid": "q1", "query": "why", "answer_text": sentence(dice), "response_length": 3}
        return {"run_id": run, **reply, "nuggets": nuggets}

    return {"n.jl": objects(answer("X"), answer("Y"))}


def mt_metrics_eval(dice: random.Random) -> Files:
    """The folder of mt-metrics-eval."""
    names = ("sources/xx-en.txt", "references/xx-en.refA.txt", "system-outputs/xx-en/S1.txt",
             "system-outputs/xx-en/refA.txt")  # fmt: skip
    return {
        **{name: text(dice, 2) for name in names},
        "documents/xx-en.docs": b"news doc1\nnews\tdoc2\n",
        "human-scores/xx-en.mqm.seg.score": rows(("S1", -1.5), ("S1", None)),
        "human-scores/xx-en.mqm.sys.score": rows(("S1", dice.random())),
    }  # fmt: skip


def paraphrases(dice: random.Random) -> Files:
    """Rated paraphrases."""
    pair_rows = [("a", "A", sentence(dice), 0.2), ("a", "A", "y", 1.0), ("b", "B", "x", 0)]
    return {"p.tsv": rows(("source", "reference", "candidate", "score"), *pair_rows)}


def judged_paraphrases(dice: random.Random) -> Files:
    """Paraphrases with the scores of judges."""
    place = resources.files("karat") / "data" / "paraphrase" / "judged.tsv"
    lines = place.read_text("utf-8").splitlines()
    return {"p.tsv": ("\n".join(lines[: dice.randint(9, 20)]) + "\n").encode()}


def gtm_sgml(dice: random.Random) -> Files:
    """The original tool's form."""
    segments = "".join(f"<seg id={k}> {sentence(dice)} </seg>\n" for k in (1, 2))
    return {
        "x.txt": f'<tstset>\n<doc docid="d-0" sysid="r">\n{segments}</doc>\n</tstset>\n'.encode()
    }


# --------------------------------------------------------------------------------------- nuggets

KEY = b"q1 1 vital a fact\nq1 2 okay\tanother fact\n\nq2 a VITAL 425 young women\n"


def trec(dice: random.Random) -> Files:
    """Key, run and judged responses of TREC."""
    run = f"q1 A d1 {sentence(dice)}\nq1 A d2  second\nq2 A NIL third\n"
    judged = b"q1 A 1 d1 first response\nq1 A 2 d2 second\nq1 A 2 1\n"
    return {"key.txt": KEY, "runs/A.txt": run.encode(), "judged.txt": judged}


def nuggets_jsonl(dice: random.Random) -> Files:
    """Karat's JSON lines, as it writes them."""
    return {"n.jsonl": _saved_nuggets()}


@cache
def _saved_nuggets() -> bytes:
    import karat as kt

    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "n.jsonl"
        kt.save_nuggets(kt.load_nuggets("demo-nuggets"), path, "jsonl")
        return path.read_bytes()


def judging_log(dice: random.Random) -> Files:
    """What `nuggets judge` keeps: judgements and further words for nuggets."""
    lines = [line for line in _saved_nuggets().splitlines() if b'"value"' in line]
    sampled_lines = dice.sample(lines, min(4, len(lines))) if lines else []
    return {"log.jsonl": b"".join(line + b"\n" for line in sampled_lines)}


# --------------------------------------------------------------------------------- text and trees


def segments(dice: random.Random) -> Files:
    """A candidate and its reference."""
    return {"x.txt": text(dice, 3), "r.txt": text(dice, 3)}


def packed_segments(dice: random.Random) -> Files:
    """The same, packed."""
    return {f"{name}.gz": gzip.compress(content) for name, content in segments(dice).items()}


def conllu(dice: random.Random) -> Files:
    """Some trees of the bundled treebank."""
    place = resources.files("karat") / "data" / "treebank" / "demo.conllu"
    trees = place.read_text("utf-8").split("\n\n")
    at = dice.randrange(len(trees) - 3)
    chosen = "\n\n".join(trees[at : at + 3]) + "\n\n"
    count = chosen.count("\n1\t") + chosen.startswith("1\t")
    return {"t.conllu": chosen.encode(), "x.txt": text(dice, count)}


# ------------------------------------------------------------------------------------------ models


def arpa(dice: random.Random) -> Files:
    """A bigram model as text."""
    return {
        "m.arpa": b"""\\data\\
ngram 1=4
ngram 2=3

\\1-grams:
-99\t<s>\t-0.3
-0.7\t</s>
-0.5\ta\t-0.2
-0.9\tb\t-0.1

\\2-grams:
-0.2\t<s> a
-0.4\ta b
-0.3\tb </s>

\\end\\
"""
    }


def language_model(dice: random.Random) -> Files:
    """The binary form of a model."""
    return {"m.lm": _language_model()}


@cache
def _language_model() -> bytes:
    from karat.lm.model import LanguageModel

    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "m.lm"
        texts = ["a b the cat", "the cat sat", "a cat sat on the mat"] * 9
        LanguageModel.train(texts, order=2).save(path)
        return path.read_bytes()


def moses(dice: random.Random) -> Files:
    """A phrase table of Moses."""
    lines = ("hello , ||| bonjour , ||| 0.5 0.4 0.9 0.3 ||| 0-0 1-1 ||| 9 10 9",
             "hello , ||| salut , ||| 0.5 0.4 0.1 0.3 ||| 0-0 1-1 ||| 9 10 1",
             ". ||| . ||| 1 1 1 1 ||| 0-0 ||| 50 50 50")  # fmt: skip
    return {"t.moses": ("\n".join(lines) + "\n").encode()}


def phrase_table(dice: random.Random) -> Files:
    """The stored form of it."""
    return {"t.npz": _phrase_table()}


@cache
def _phrase_table() -> bytes:
    from karat.paraphrase.table.moses import read_moses

    with tempfile.TemporaryDirectory() as name:
        path = Path(name)
        (path / "t.moses").write_bytes(moses(random.Random(0))["t.moses"])
        read_moses(path / "t.moses").save(path / "t.npz")
        return (path / "t.npz").read_bytes()


def pharaoh(dice: random.Random) -> Files:
    """Links between words."""
    pairs = [f"{dice.randint(0, 5)}-{dice.randint(0, 5)}" for _ in range(4)]
    return {"a.txt": f"0-0 1-1 {' '.join(pairs)}\n\n0-0\n".encode()}


def parallel(dice: random.Random) -> Files:
    """Two columns."""
    return {"p.tsv": rows(*((sentence(dice), sentence(dice)) for _ in range(3)))}


def pem(dice: random.Random) -> Files:
    """The bundled paraphrase model."""
    return {"m.npz": _bundled_pem()}


@cache
def _bundled_pem() -> bytes:
    from karat.paraphrase.pem.model import bundled_model_path

    return Path(bundled_model_path()).read_bytes()


def realizer(dice: random.Random) -> Files:
    """A small realiser."""
    return {"m.npz": _realizer()}


@cache
def _realizer() -> bytes:
    from karat.realize.model import train_realizer
    from karat.realize.treebank import read_treebank

    place = resources.files("karat") / "data" / "treebank" / "demo.conllu"
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "m.npz"
        train_realizer(read_treebank(str(place)), "fergus").save(path)
        return path.read_bytes()


# ------------------------------------------------------------------------------------------ tables


def csv_table(dice: random.Random) -> Files:
    """Candidates and references, with a quoted field."""
    text_pairs = [
        (sentence(dice).replace(",", ";"), f'"{sentence(dice)}, ""x""\n"') for _ in range(3)
    ]
    return {"t.csv": rows(("candidate", "reference"), *text_pairs, by=",")}


def spans(dice: random.Random) -> Files:
    """Marked errors of two judges: JSON lines, an MQM table and an export of Appraise."""
    marks = [{"start": k, "end": k + dice.randint(1, 9), "severity": "major"} for k in range(2)]
    lines = [
        {"system": "A", "segment": str(k), "judge": judge, "spans": marks[: dice.randint(0, 2)]}
        for k in range(2)
        for judge in ("ann", "bob")
    ]
    columns = ("system", "doc", "doc_id", "seg_id", "rater", "source", "target", "severity")
    mqm = [
        ("A", "d", "1", str(k), "cleo", "s", f"{sentence(dice)} <v>x</v>", "Minor") for k in (1, 2)
    ]
    marked = json.dumps([{"start_i": 1, "end_i": 4, "severity": "minor"}]).replace('"', '""')
    appraise = "".join(
        f'{judge},A,{k},TGT,eng,deu,80,d#A,False,"{marked}",1.0,2.0\n'
        for k in (1, 2)
        for judge in ("ann", "bob")
    )
    return {
        "s.jsonl": objects(*lines),
        "mqm.tsv": rows(columns, *mqm),
        "esa.csv": appraise.encode(),
    }


def challenge(dice: random.Random) -> Files:
    """Pairs of a good and a bad text: a CSV table, and a JSON file as in DEMETR."""
    columns = ("reference", "good", "bad", "phenomenon", "severity", "id")
    pairs = [
        (*(sentence(dice).replace(",", ";") for _ in range(3)), "omission", "major", str(k))
        for k in range(3)
    ]
    names = ("eng_sent", "mt_sent", "pert_sent", "pert_name", "severity", "id")
    records = [
        {**dict(zip(names, pair, strict=True)), "pert_check": k != 1}
        for k, pair in enumerate(pairs)
    ]
    return {
        "a.csv": rows(columns, *pairs, by=","),
        "b.json": json.dumps(records, ensure_ascii=False).encode(),
    }


def tsv_table(dice: random.Random) -> Files:
    """The same with tabs, packed."""
    text_pairs = [(sentence(dice), sentence(dice)) for _ in range(3)]
    return {"t.tsv.gz": gzip.compress(rows(("candidate", "reference"), *text_pairs))}


def jsonl_table(dice: random.Random) -> Files:
    """The same as objects, with several references."""
    records = [
        {"candidate": sentence(dice), "reference": [sentence(dice), "é"], "more": {"n": k}}
        for k in range(3)
    ]
    return {"t.jsonl": objects(*records)}


def csv_records(dice: random.Random) -> Files:
    """Ratings in one of the dialects of CSV, perhaps below a title or with two header rows."""
    by = dice.choice((",", ";", "\t", "|"))
    lines = [(k, f'"{sentence(dice).replace(by, " ")}"', dice.randint(1, 5), 3) for k in range(4)]
    header = rows(("item", "response", "alice", "bob"), by=by)
    if dice.random() < 0.3:
        header = rows(("", "", "fluency", ""), ("item", "response", "alice", "bob"), by=by)
    title = b"Ratings of May\n\n" if dice.random() < 0.3 else b""
    return {"t.csv": (title + header + rows(*lines, by=by)).replace(b"\n", b"\r\n")}


def encoded_records(dice: random.Random) -> Files:
    """German text in another encoding than UTF-8."""
    lines = [(k, "Der Hund läuft über die Straße", 3 + k / 10) for k in range(dice.randint(2, 5))]
    table = rows(("id", "antwort", "note"), *lines, by="\t").decode().replace(".", ",")
    return {"t.csv": table.encode(dice.choice(("cp1252", "utf-16", "utf-16-le", "utf-8-sig")))}


def json_records(dice: random.Random) -> Files:
    """Records in one of the forms of JSON documents."""
    items = [{"id": k, "response": sentence(dice), "score": k / 2} for k in range(3)]
    columns = {key: [item[key] for item in items] for key in items[0]}
    document: object = dice.choice(
        (
            items,
            columns,
            {"results": items, "config": {"model": "a"}},
            {key: dict(enumerate(values)) for key, values in columns.items()},
            {"columns": list(columns), "data": [list(item.values()) for item in items]},
        )
    )
    return {"t.json": json.dumps(document, indent=dice.choice((None, 1))).encode()}


def workbook(dice: random.Random) -> Files:
    """A workbook with a title, merged cells, a percentage, an error and notes."""
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["Ratings"])
    sheet.append(["item", "response", "alice", "ratio"])
    for k in range(4):
        sheet.append(
            [k // 2 if k % 2 == 0 else None, f"w {sentence(dice)}", dice.randint(1, 5), 0.5]
        )
    sheet["D3"].number_format = "0%"
    sheet["C4"] = "#N/A"
    sheet.merge_cells("A3:A4")
    sheet.merge_cells("A5:A6")
    book.create_sheet("Notes")["A1"] = "made by hand"
    out = io.BytesIO()
    book.save(out)
    return {"t.xlsx": out.getvalue()}


def parquet(dice: random.Random) -> Files:
    """A parquet file with nested columns."""
    import pyarrow
    from pyarrow import parquet as files

    table = pyarrow.table({"id": [1, 2], "texts": [[sentence(dice)], []], "more": [{"n": 1}, None]})
    out = io.BytesIO()
    files.write_table(table, out)
    return {"t.parquet": out.getvalue()}


# ---------------------------------------------------------------------------------------- settings


def experiment(dice: random.Random) -> Files:
    """An experiment as TOML."""
    lines = ('evalset = "demo"', 'metrics = ["bleu", "chrf:beta=3"]', 'dimensions = ["fluency"]',
             'levels = ["system", "item"]', 'statistics = ["pearson"]', "resamples = 10",
             "trials = 10", "seed = 7")  # fmt: skip
    return {"e.toml": ("\n".join(lines) + "\n").encode()}


def bertscore_baseline(dice: random.Random) -> Files:
    """A file of baselines, a line for each layer."""
    layers = [(i, *(round(dice.random() / 2, 4) for _ in "prf")) for i in range(3)]
    return {"b.tsv": rows(("LAYER", "P", "R", "F"), *layers, by=",")}


def gate_baseline(dice: random.Random) -> Files:
    """The baseline of a gate."""
    import karat as kt

    texts = ["the cat sat", "on the mat", "of the house"]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "gate.tsv"
        metrics = dice.choice((["chrf"], ["bleu", "rougeL"], ["ter", "gtm:e=1.5"]))
        kt.write_baseline(texts, texts, metrics, baseline=place, texts=dice.random() < 0.5)
        return {"gate.tsv": place.read_bytes()}


METRICS = ("bleu:n=4,smooth=exp,tok=13a", "gtm:e=2,search=exact", "ter:norm=yes", "aev:n=2",
           "chrf:beta=2|nrefs=1|karat=0.2.0", "rougeL:stem=porter", "wer:case=lower")  # fmt: skip


def metric_string(dice: random.Random) -> Files:
    """A metric with its settings, or a signature."""
    return {"metric": dice.choice(METRICS).encode()}


def stop_list(dice: random.Random) -> Files:
    """Stop words."""
    return {"stop.txt": text(dice, 4)}
