"""Run every command that prints numbers on bundled data and write what it printed, as JSON.

`python commands.py FOLDER` works in an empty folder and prints {command: output}. What it prints
must be the same on every processor; test_processors.py runs it under several.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shlex
import sys
from contextlib import redirect_stderr, redirect_stdout
from hashlib import sha256
from importlib import resources
from pathlib import Path

BUNDLED = Path(str(resources.files("karat") / "data"))
COMMANDS = """
score atlas.txt drift.txt -r ref1.txt -r ref2.txt -m bleu -m bleu:smooth=add-k -m chrf++ -m
  rougeL -m rouge2 -m aev:alpha=0.3 -m gtm:e=1.5 -m gtm -m ter -m wer --intervals -f json
score atlas.txt -r ref1.txt -m bleu -m chrf -m gtm:e=2,search=exact --segments -f json
compare atlas.txt beacon.txt cinder.txt -r ref1.txt -r ref3.txt -m bleu -m rougeL -m gtm -m
  ter -f json --examples 1
compare atlas.txt beacon.txt -r ref1.txt -m rougeL -m gtm -m chrf --test sacrebleu-ar
  --trials 500 -f json
power atlas.txt beacon.txt -r ref1.txt -m bleu -m chrf --difference 3 -f json
grid cinder.txt -r ref1.txt -r ref2.txt --segment 2 -f json
explain words.txt -r trees.conllu --segment 1 -f json
metrics aev -f json
meta demo -m bleu -m ter -m gtm:e=2 -l segment -l item -l system -l by-system -s pearson -s
  spearman -s tau-b -s acc-eq --resamples 100 --trials 200 -f json
meta reliability demo -m bleu -m gtm:preset=paper -d adequacy --lengths 1,2,4 --reference-counts 1,2
  --repeats 5 --documents joined -f json
plane fit demo --dimension fluency --task mt --guideline fluency --resamples 100 -f json
plane fit demo -d fluency --reference 1 --compare-with bleu --compare-with ter --by groups
  --resamples 50 -f json
plane recommend --task mt --guideline fluency -f json
data check demo -f json
data judges demo -f json
nuggets describe demo-nuggets -f json
nuggets score heron kestrel plover wren --key demo-nuggets -f json
nuggets score heron kestrel --key demo-nuggets --classifier paper -f json
nuggets diff heron kestrel --key demo-nuggets -f json
nuggets evaluate demo-nuggets -f json
nuggets evaluate demo-nuggets --leave-out question -f json
nuggets tune demo-nuggets -f json
lm train ref1.txt ref2.txt --order 3 -o kn.arpa
lm train ref1.txt ref2.txt --order 3 --smoothing katz -o katz.arpa
lm score ref3.txt atlas.txt --model kn.arpa -f json
lm score some.txt --model katz.arpa --words -f json
paraphrase score ref2.txt --originals ref1.txt -f json
paraphrase score ref2.txt --originals ref1.txt --segments -f json
paraphrase score ref2.txt --originals ref1.txt --form paper -f json
paraphrase explain ref2.txt --originals ref1.txt --worst 2 -f json
paraphrase generate some.txt --n-best 2 -f json
paraphrase align ref1.txt ref2.txt -o links.txt
paraphrase train fr=parallel.tsv --judged demo-paraphrases -o pem.npz
paraphrase score ref2.txt --originals ref1.txt --model pem.npz --segments -f json
paraphrase controls demo-paraphrases with-controls
paraphrase evaluate demo-paraphrases --resamples 100 -f json
paraphrase evaluate demo-paraphrases --form paper --train-first 27 -f json
realize train treebank.conllu -o realizer.npz
realize evaluate some.conllu --model realizer.npz -f json
realize generate some.conllu --model realizer.npz -f json
realize generate some.conllu --model realizer.npz --realizer fergus -f json
realize explain some.conllu --model realizer.npz --segment 3 -f json
realize grammar realizer.npz -f json
realize train treebank.conllu -o lemmas.npz --realizer ordering --inputs lemmas
realize evaluate some.conllu --model lemmas.npz --inputs lemmas -f json
realize generate some.conllu --model lemmas.npz --inputs lemmas --detokenise -f json
realize explain some.conllu --model lemmas.npz --inputs lemmas --segment 3 -f json
realize train treebank.conllu -o content.npz --realizer ordering --inputs all,lemmas
  --complete-from all,relations
realize generate content.txt --model content.npz --inputs lemmas --complete
  function-words,punctuation --detokenise -f json
realize generate content.conllu --model content.npz --inputs relations --complete function-words
  --keep aux --n-best 2 -f json
realize explain content.txt --model content.npz --inputs lemmas --complete
  function-words,punctuation --n-best 2 -f json
realize evaluate few.conllu --model content.npz --inputs relations,lemmas -f json
realize demo -f json
data convert demo demo-folder
data convert demo demo.jsonl --format jsonl
data draw demo 4 --plan draws.tsv -f json
data flood demo flooded --dimension adequacy --correct 4
data list -f json
data judges demo-nuggets -f json
score --set demo -m bleu -m chrf -f json
compare --set demo -m bleu -m chrf -m ter --unit document -f json
estimate demo-labels -J chrf -f json
estimate demo-labels -J chrf -J rougeL -J ter --population new --baseline drift --next 6 --plan
  planned.tsv -f json
estimate demo-paraphrases -d fluency -J chrf -J bleu --population new -f json
compare --set demo-labels -m estimate:judge=chrf -m estimate:judge=chrf+rougeL
  --test sacrebleu-bootstrap --trials 100 --examples 1 -f json
score atlas.txt -r ref1.txt -m bleu -m aev -m rouge2:stem=porter-nltk --signature-only
score atlas.txt -r ref1.txt -m bleu -m ter --signature sacrebleu -f json
metrics -f json
nuggets convert demo-nuggets nuggets.jsonl
nuggets convert demo-nuggets nuggets-trec --format trec
nuggets agree demo-nuggets nuggets.jsonl -f json
nuggets score heron wren --key demo-nuggets --pourpre --nuggets -f json
nuggets score heron --key demo-nuggets --classifier
  paper:n=1,weight=count,stem=porter,stop=en,threshold_model=global,once=yes,responses=yes -f json
paraphrase table pem.npz -o phrases.txt
paraphrase table phrases.txt -o table.npz
score atlas.txt -r ref1.txt -m pivot_f1:table=table.npz -f json
score atlas.txt beacon.txt -r ref1.txt -m pem -m pem:model=bundled-paper -f json
meta demo -m bleu -m chrf --dimension adequacy --resamples 50 --trials 50 --save experiment.toml
  -f json
meta --experiment experiment.toml -f json
meta demo -m chrf -d 'adequacy - fluency' -l segment -l system -s pearson -s spearman -s tau-b
  --resamples 50 --trials 0 --p-values -f json
meta demo parsed -m bleu -m chrf -l item -l system -s kendall-like -s pdp -s tau-23 --weights 2,1
  --system-scores all --resamples 50 --trials 50 --save study.toml -f json
meta --experiment study.toml -f json
meta fit demo -m bleu -m ter -m wer@substitutions -d fluency -d 'adequacy - errors' -f json
data challenge demo planted.csv
meta challenge planted.csv -m bleu -m chrf -m ter -f json
meta gains demo -m chrf -m ter --kind translation -f json
meta fit parsed -m simple_tree_accuracy -m simple_tree_accuracy@substitutions -f json
score --set parsed -m generation_tree_accuracy -m quality_accuracy --segments -f json
data convert parsed parsed.jsonl --format jsonl
score outputs.csv --by system --id segment -m bleu -m rougeL --intervals -f json
compare outputs.csv --by system --id segment -m bleu -m gtm --baseline cinder -f json
compare outputs.csv --by system --id segment -m chrf --buckets 4 -f json
score outputs.csv --by system --id segment -m bleu -m rougeL --shards parts --shard 1/1
merge parts --intervals -f json
merge parts --compare --baseline cinder -f json
gate atlas.txt -r ref1.txt -m chrf -m gtm -m ter -b gate.tsv --update --texts
gate beacon.txt -r ref1.txt -b gate.tsv --max-drop 20 --min-score chrf=50 --examples 2 -f json
gate heron --key demo-nuggets -m f -m A -b nuggets.tsv --update
gate heron --key demo-nuggets -b nuggets.tsv --no-loss -f json
judge ratings demo -d fluency --endpoint demo -o ratings.jsonl -f json
judge ratings demo -d style --scale 1-7 --guideline 'Is it plain?' --batch 4 --sample 5
  --replicates 2 --endpoint demo -o style.jsonl --dry-run --price 1,2 -f json
judge pairs demo --baseline atlas --endpoint demo -o pairs.jsonl -f json
judge check demo -j ratings.jsonl -d fluency -f json
judge spans spans.jsonl --model-judge gpt -f json
power --set demo --ratings fluency -f json
judge nuggets demo-nuggets --endpoint demo -o labels.jsonl -f json
judge prompts
nuggets draft demo --endpoint demo --most 4 --sample 5 -o drafted.jsonl -f json
reproduce aev -f json
reproduce gtm -f json
reproduce fergus -f json
reproduce nuggeteer -f json
reproduce pem -f json
"""
CONTENT = """\
(ask root VERB VBD Mood=Ind|Number=Sing|Person=3|Tense=Past|VerbForm=Fin
  (mayor nsubj NOUN NN Definite=Def|Number=Sing)
  (McDonald obj PROPN NNP Number=Sing)
  (plan obl NOUN NN Definite=Ind|Number=Sing (new amod ADJ JJ Degree=Pos)))
"""
WORDS = """\
1\tmayor\t_\t_\t_\t_\t2\tnsubj\t_\t_
2\tasked\t_\t_\t_\t_\t0\troot\t_\t_
3\tcompany\t_\t_\t_\t_\t2\tobj\t_\t_
4\tplan\t_\t_\t_\t_\t2\tobl\t_\t_

"""
SPANS = "".join(
    json.dumps(
        {
            "system": "A",
            "segment": segment,
            "judge": judge,
            "spans": [{"start": start, "end": end, "severity": severity}] if end else [],
        }
    )
    + "\n"
    for segment, judge, start, end, severity in (
        ("1", "ann", 0, 6, "major"),
        ("1", "ben", 1, 8, "minor"),
        ("1", "gpt", 4, 9, "major"),
        ("2", "ann", 0, 0, ""),
        ("2", "ben", 3, 5, "major"),
        ("2", "gpt", 2, 5, "major"),
    )
)
LINES = COMMANDS.replace("\n  ", " ").strip().split("\n")
WRITTEN = (  # compared, too: files, and folders with all that is in them
    *("kn.arpa", "katz.arpa", "links.txt", "pem.npz", "realizer.npz", "with-controls"),
    *("demo-folder", "demo.jsonl", "flooded", "nuggets.jsonl", "nuggets-trec", "phrases.txt"),
    *("table.npz", "experiment.toml", "parsed.jsonl", "study.toml", "content.npz", "planted.csv"),
)
TIMES = re.compile(r', "speed": [^,}]+|in [0-9]+ s of processor time')  # never the same twice
TRAINED = ("paraphrase evaluate", "reproduce pem", "paraphrase train", "--model pem.npz", "pem.npz")
"""What depends on the installed scikit-learn: compared between processors, not kept in files."""
EXEMPT = {
    "completion": "prints no number",
    "demo": "score and compare",
    "studio": "serves pages",
    "studio export": "the judgements of people",
    "studio import": "the judgements of people",
    "studio owner": "prints a link that is never the same",
}


def prepare(folder: Path) -> None:
    """Lay out the texts that the commands read."""
    for n in (1, 2, 3):
        text = (BUNDLED / "demo" / f"reference-{n}.txt").read_text("utf-8")
        (folder / f"ref{n}.txt").write_text(text, "utf-8")
    for path in sorted((BUNDLED / "demo" / "systems").iterdir()):
        (folder / path.name).write_text(path.read_text("utf-8"), "utf-8")
    first_lines = (folder / "ref1.txt").read_text("utf-8").split("\n")[:12]
    (folder / "some.txt").write_text("\n".join(first_lines) + "\n", "utf-8")
    parallel = (BUNDLED / "paraphrase" / "en-fr.tsv").read_text("utf-8").split("\n")[:1000]
    (folder / "parallel.tsv").write_text("\n".join(parallel) + "\n", "utf-8")
    trees = (BUNDLED / "treebank" / "demo.conllu").read_text("utf-8")
    (folder / "treebank.conllu").write_text(trees, "utf-8")
    first = trees.strip().split("\n\n")[:20]
    (folder / "some.conllu").write_text("\n\n".join(first) + "\n\n", "utf-8")
    (folder / "few.conllu").write_text("\n\n".join(first[:4]) + "\n\n", "utf-8")
    (folder / "spans.jsonl").write_text(SPANS, "utf-8")
    (folder / "content.txt").write_text(CONTENT, "utf-8")
    (folder / "content.conllu").write_text(WORDS, "utf-8")
    (folder / "trees.conllu").write_text(first[0] + "\n\n", "utf-8")
    words = [line.split("\t")[1] for line in first[0].split("\n") if line[:1].isdigit()]
    (folder / "words.txt").write_text(" ".join(reversed(words)) + "\n", "utf-8")
    lay_out_parsed(folder / "parsed", first)
    lay_out_table(folder)


def lay_out_table(folder: Path) -> None:
    """Lay out outputs of three systems as one table."""
    references = (folder / "ref1.txt").read_text("utf-8").rstrip("\n").split("\n")
    with (folder / "outputs.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["system", "segment", "output", "reference"])
        for name in ("atlas", "beacon", "cinder"):
            text = (folder / f"{name}.txt").read_text("utf-8-sig").rstrip("\n")
            for i, (output, reference) in enumerate(zip(text.split("\n"), references, strict=True)):
                table.writerow([name, f"{i:02}", output, reference])


def lay_out_parsed(folder: Path, sentences: list[str]) -> None:
    """Lay out a judged set of trees: one system turns every other sentence, one exchanges words."""
    rows = [[line for line in sentence.split("\n") if line[:1].isdigit()] for sentence in sentences]
    words = [[line.split("\t")[1] for line in lines] for lines in rows]
    for name in ("systems", "references"):
        (folder / name).mkdir(parents=True)
    turned = [tokens[::-1] if i % 2 else tokens for i, tokens in enumerate(words)]
    other = [[*tokens[i % 3 :], *"xyz"[: i % 3]] for i, tokens in enumerate(words)]
    judged = ["system\tsegment\tjudge\tdimension\tvalue"]
    for name, outputs in (("turned", turned), ("other", other)):
        text = "".join(" ".join(tokens) + "\n" for tokens in outputs)
        (folder / "systems" / f"{name}.txt").write_text(text, "utf-8")
        values = [1 + (3 * i + len(name)) % 7 for i in range(len(outputs))]
        judged += [f"{name}\t{i}\tj\tquality\t{value}" for i, value in enumerate(values, 1)]
    (folder / "references" / "1.conllu").write_text("\n\n".join(sentences) + "\n\n", "utf-8")
    (folder / "human.tsv").write_text("\n".join(judged) + "\n", "utf-8")
    (folder / "karat.toml").write_text('[[dimension]]\nname = "quality"\n', "utf-8")


def run(folder: Path) -> dict[str, str]:
    """Run all commands in `folder`: what each printed, and the files that are compared."""
    from karat.cli.main import main

    os.chdir(folder)
    os.environ.pop("KARAT_DATA", None)  # which sets are here depends on it
    prepare(folder)
    outputs = {}
    for line in LINES:
        out, err = io.StringIO(), io.StringIO()
        sys.argv = ["karat", *shlex.split(line)]  # which results show
        with redirect_stdout(out), redirect_stderr(err):
            code = main(sys.argv[1:])
        text = TIMES.sub("", out.getvalue()) + (err.getvalue() if code else "")
        outputs[line] = f"exit {code}\n{text}"
    return outputs | {name: digest(folder / name) for name in WRITTEN}


def digest(path: Path) -> str:
    """Return the digest of a file, or of all files of a folder with their names."""
    if path.is_file():
        return sha256(path.read_bytes()).hexdigest()
    inside = sorted(str(file.relative_to(path)) for file in path.rglob("*") if file.is_file())
    return sha256(
        "\n".join(f"{name} {digest(path / name)}" for name in inside).encode()
    ).hexdigest()


if __name__ == "__main__":
    results = run(Path(sys.argv[1]))
    print(json.dumps(results))
