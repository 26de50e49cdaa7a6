"""Commands that show a report of every kind, and the files that they read."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from karat.cli.main import main

RIGHT_TO_LEFT = "ذهبت إلى المدرسة <script>window.hostile=1</script>\nقرأت كتابا\n"
CHINESE = "我昨天去了学校 <img src=x onerror=window.hostile=1>\n他在图书馆看书\n"
CONTENT = "(asked root VERB (she nsubj PRON) (estimate obj NOUN (cost compound NOUN)))\n"

COMMANDS = {
    "demo": "demo -o demo.html",
    "compare": "compare atlas.txt drift.txt -r ref1.txt -m bleu -m ter -m chrf",
    "many": "compare {many} -r ref1.txt -m chrf",
    "score": "score atlas.txt drift.txt -r ref1.txt",
    "segments": "score atlas.txt beacon.txt cinder.txt drift.txt -r ref1.txt --segments",
    "worst": "score atlas.txt drift.txt -r ref1.txt --worst 3",
    "arabic": "compare arabic.txt arabic2.txt -r arabic3.txt -m chrf",
    "chinese": "compare chinese.txt chinese2.txt -r chinese3.txt -m bleu:tok=zh",
    "grid": "grid drift.txt -r ref1.txt --segment 9",
    "estimate": "estimate demo-labels -J chrf --next 6",
    "meta": "meta demo -m bleu -m chrf -m rougeL",
    "challenge": "meta challenge planted.csv -m bleu -m chrf -m rouge1",
    "plane": "plane fit demo",
    "recommend": "plane recommend --task mt --guideline fluency",
    "nuggets": "nuggets score heron kestrel --key demo-nuggets --nuggets",
    "diff": "nuggets diff heron kestrel --key demo-nuggets",
    "ratings": "judge ratings demo -d adequacy --endpoint demo -o log.jsonl --report ratings.html",
    "pairs": "judge pairs demo --endpoint demo -o pairs.jsonl --report pairs.html",
    "supports": "judge nuggets demo-nuggets --endpoint demo -o l.jsonl --report supports.html",
    "draft": "nuggets draft demo --endpoint demo -o key.jsonl --report draft.html",
    "metrics": "metrics",
    "sets": "data list",
    "paraphrase": "paraphrase explain drift.txt --originals ref1.txt --worst 1",
    "realize": "realize demo",
    "realizers": "realize evaluate treebank.conllu --model realizer.npz",
    "sentences": "realize generate treebank.conllu --model realizer.npz --n-best 2",
    "forms": "realize explain treebank.conllu --model realizer.npz --inputs lemmas",
    "inserted": "realize explain content.txt --model realizer.npz --inputs relations"
    " --complete function-words,punctuation",
    "agreement": "paraphrase evaluate demo-paraphrases --feature rougeL --resamples 20",
    "scored": "paraphrase score ref2.txt ref3.txt --originals ref1.txt --resamples 20",
    "rewritten": "paraphrase generate some.txt --n-best 1",
    "gate": "gate atlas.txt -r ref1.txt --baseline gate.tsv",
}


def write_inputs(folder: Path) -> str:
    """Write what the commands read into the working directory; the files of `{many}`."""
    assert main(["demo", "--texts", "."]) == 0
    names = []
    texts = (folder / "drift.txt").read_text("utf-8").splitlines()
    for n in range(40):
        rotated = [line if at % 40 >= n else line[::-1] for at, line in enumerate(texts)]
        (folder / f"system-{n}.txt").write_text("\n".join(rotated) + "\n", "utf-8")
        names.append(f"system-{n}.txt")
    for name, text in (("arabic", RIGHT_TO_LEFT), ("chinese", CHINESE)):
        (folder / f"{name}.txt").write_text(text, "utf-8")
        (folder / f"{name}2.txt").write_text(text.replace(" ", "  x "), "utf-8")
        (folder / f"{name}3.txt").write_text(text.replace(" ", " y "), "utf-8")
    update = ["gate", "drift.txt", "-r", "ref1.txt", "-m", "chrf", "--baseline", "gate.tsv"]
    assert main([*update, "--update"]) == 0
    (folder / "some.txt").write_text("\n".join(texts[:6]) + "\n", "utf-8")
    (folder / "content.txt").write_text(CONTENT, "utf-8")
    assert main(["data", "challenge", "demo", "planted.csv"]) == 0
    treebank = resources.files("karat") / "data" / "treebank" / "demo.conllu"
    (folder / "treebank.conllu").write_text(treebank.read_text("utf-8"), "utf-8")
    train = "realize train treebank.conllu -o realizer.npz --inputs all,lemmas --complete-from"
    assert main([*train.split(), "relations"]) == 0
    return " ".join(names)
