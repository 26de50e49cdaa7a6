"""Tables of judgements, as people keep them in spreadsheets: wide, long, pairwise, untidy."""

from __future__ import annotations

from typing import Any

from case_format import (
    BIKE_SYSTEMS,
    LETTER_SYSTEMS,
    TEXTS,
    Cases,
    Row,
    cell,
    count_missing,
    csv_text,
    jsonl_text,
    noise,
    rating,
    reading,
)

BIKES = TEXTS["bikes"]
LETTERS = TEXTS["letters"]
PEOPLE = ["alice", "bob", "carol"]


def add_cases(cases: Cases) -> None:
    """Write the files and add their expectations."""
    _column_per_judge(cases)
    _column_per_judge_and_dimension(cases)
    _column_per_system(cases)
    _columns_without_meaning(cases)
    _long(cases)
    _arena(cases)
    _side_by_side(cases)
    _missing_cells(cases)
    _decimal_commas(cases)
    _likert_words(cases)
    _booleans(cases)
    _direct_assessment(cases)
    _mqm(cases)
    _crowd_batch(cases)
    _scores_with_text(cases)
    _model_judge(cases)
    _segment_scores(cases)


def _column_per_judge(cases: Cases) -> None:
    rows: list[Row] = [
        {"item": f"q{number + 1:02d}", "model": system, "text": item[system]}
        | {person: rating(number, system, person) for person in PEOPLE}
        for number, item in enumerate(BIKES[:8])
        for system in BIKE_SYSTEMS
    ]
    cases.write("ratings.csv", csv_text(rows))
    cases.expect(
        "ratings.csv",
        "A team of three who rated the answers of three models in one shared sheet, a column per "
        "person.",
        "ratings",
        24,
        {"id": "item", "system": "model", "candidate": "text"},
        judge_columns=PEOPLE,
        items=8,
        systems=3,
        judges=3,
        dimensions=1,
        cells=[
            cell(0, "id", "q01"),
            cell(5, "score", rows[5]["bob"], judge="bob"),
            cell(23, "candidate", BIKES[7]["mistral-small"]),
        ],
    )


def _column_per_judge_and_dimension(cases: Cases) -> None:
    places = [(d, p) for d in ("fluency", "adequacy") for p in ("alice", "bob")]
    rows: list[Row] = [
        {"id": number + 1, "system": system}
        | {f"{d}_{p}": rating(number, system, p, d) for d, p in places}
        for system in LETTER_SYSTEMS
        for number in range(10)
    ]
    cases.write("mt_ratings_wide.csv", csv_text(rows))
    cases.expect(
        "mt_ratings_wide.csv",
        "A translation agency where two linguists rated fluency and adequacy, a column per "
        "dimension and person.",
        "ratings",
        30,
        {"id": "id", "system": "system"},
        columns={f"{d}_{p}": {"dimension": d, "judge": p} for d, p in places},
        items=10,
        systems=3,
        judges=2,
        dimensions=2,
        cells=[
            cell(11, "score", rows[11]["adequacy_bob"], judge="bob", dimension="adequacy"),
            cell(11, "system", "Google"),
        ],
    )


def _column_per_system(cases: Cases) -> None:
    rows: list[Row] = [
        {"Nr.": number + 1, "Gutachter": person}
        | {system: rating(number, system, person) for system in LETTER_SYSTEMS}
        for person in ("Schäfer", "Öztürk")
        for number in range(9)
    ]
    cases.write("gutachten.csv", csv_text(rows, ";", "\r\n"), "cp1252")
    cases.expect(
        "gutachten.csv",
        "A German translation bureau that saved an Excel sheet as CSV: two reviewers, a column per "
        "system, semicolons, Windows characters.",
        "ratings",
        18,
        {"id": "Nr.", "judge": "Gutachter"},
        system_columns=LETTER_SYSTEMS,
        items=9,
        systems=3,
        judges=2,
        dimensions=1,
        cells=[
            cell(0, "judge", "Schäfer"),
            cell(9, "judge", "Öztürk"),
            cell(9, "score", rows[9]["inhouse-nmt"], system="inhouse-nmt"),
        ],
    )


def _columns_without_meaning(cases: Cases) -> None:
    rows: list[Row] = [
        {"segment": number + 1} | {name: rating(number, name, "x") for name in ("A", "B", "C", "D")}
        for number in range(20)
    ]
    cases.write("scores_ABCD.csv", csv_text(rows))
    cases.expect(
        "scores_ABCD.csv",
        "A student who got this file by email: a segment number and four columns of numbers from 1 "
        "to 5.",
        "ratings",
        20,
        {"id": "segment"},
        judge_columns=["A", "B", "C", "D"],
        items=20,
        judges=4,
        dimensions=1,
        cells=[cell(2, "score", rows[2]["C"], judge="C")],
        ambiguous=True,
        readings=[
            reading("The columns are four judges of one system."),
            reading(
                "The columns are four systems of one judge.",
                systems=["A", "B", "C", "D"],
                judges=[],
                counts={"systems": 4, "judges": 1},
            ),
        ],
    )


def _long(cases: Cases) -> None:
    rows: list[Row] = [
        {"item": f"n{number}", "model": system, "judge": person, "dimension": dimension}
        | {"value": rating(number, system, person, dimension)}
        for number in range(3)
        for system in ("bart", "t5")
        for person in ("J1", "J2")
        for dimension in ("coherence", "consistency", "relevance")
    ]
    cases.write("judgements_long.tsv", csv_text(rows, "\t"))
    cases.expect(
        "judgements_long.tsv",
        "A statistician who keeps summary ratings in tidy form: item, model, judge, dimension, "
        "value.",
        "ratings",
        36,
        {
            "id": "item",
            "system": "model",
            "judge": "judge",
            "dimension": "dimension",
            "score": "value",
        },
        items=3,
        systems=2,
        judges=2,
        dimensions=3,
        cells=[cell(7, "dimension", "consistency"), cell(7, "score", rows[7]["value"])],
    )


def _arena(cases: Cases) -> None:
    pairs = [(0, 1), (2, 0), (1, 2)]
    rows: list[Row] = []
    for number in range(8):
        for judge in ("author_1", "expert_14"):
            first, second = (BIKE_SYSTEMS[i] for i in pairs[number % 3])
            left, right = rating(number, first, judge), rating(number, second, judge)
            winner = "tie" if left == right else "model_a" if left > right else "model_b"
            rows.append(
                {"question_id": 81 + number, "model_a": first, "model_b": second}
                | {"winner": winner, "judge": judge, "turn": 1}
            )
    cases.write("human_judgments.csv", csv_text(rows))
    cases.expect(
        "human_judgments.csv",
        "A researcher with pairwise votes in the schema of MT-Bench and Chatbot Arena "
        "(question_id, model_a, model_b, winner, judge, turn).",
        "ratings",
        16,
        {
            "id": "question_id",
            "system": ["model_a", "model_b"],
            "judge": "judge",
            "score": "winner",
        },
        items=8,
        systems=3,
        judges=2,
        dimensions=1,
        cells=[cell(1, "judge", "expert_14"), cell(1, "score", rows[1]["winner"])],
        problem="These are preferences between two systems, not ratings of one.",
    )


def _side_by_side(cases: Cases) -> None:
    choices = ["A", "B", "tie"]
    rows: list[Row] = [
        {
            "prompt": item["question"],
            "answer_a": item["gpt-4o-mini"],
            "answer_b": item["llama-3.1-8b"],
            "preferred": choices[int(3 * noise(number, "preferred"))],
            "annotator": f"w{number % 3}",
        }
        for number, item in enumerate(BIKES)
    ]
    cases.write("side_by_side.csv", csv_text(rows))
    cases.expect(
        "side_by_side.csv",
        "A product team that showed two answers side by side and asked which one is better.",
        "ratings",
        12,
        {"question": "prompt", "judge": "annotator", "score": "preferred"},
        system_columns=["answer_a", "answer_b"],
        items=12,
        systems=2,
        judges=3,
        dimensions=1,
        cells=[
            cell(1, "candidate", BIKES[1]["llama-3.1-8b"], system="answer_b"),
            cell(1, "score", rows[1]["preferred"]),
        ],
        ambiguous=True,
        readings=[
            reading("Preferences between two systems, with their texts."),
            reading(
                "Outputs of two systems to score; the preference is left alone.", kind="outputs"
            ),
        ],
    )


def _missing_cells(cases: Cases) -> None:
    tokens = {(0, "rater2"): "", (3, "rater1"): "N/A", (4, "rater3"): "-", (7, "rater2"): "n/a"}
    tokens |= {(9, "rater1"): "", (9, "rater3"): "?", (12, "rater2"): "NA"}
    rows: list[Row] = []
    for number in range(14):
        row: Row = {"ID": f"S{number:02d}", "System": LETTER_SYSTEMS[number % 2]}
        for person in ("rater1", "rater2", "rater3"):
            row[person] = tokens.get((number, person), rating(number, row["System"], person))
        rows.append(row)
    cases.write("ratings_with_gaps.csv", csv_text(rows))
    cases.expect(
        "ratings_with_gaps.csv",
        "A project lead whose raters skipped some items and marked that in their own ways.",
        "ratings",
        14,
        {"id": "ID", "system": "System"},
        judge_columns=["rater1", "rater2", "rater3"],
        items=14,
        systems=2,
        judges=3,
        dimensions=1,
        missing={"score": count_missing(rows, ["rater1", "rater2", "rater3"])},
        cells=[
            cell(0, "score", None, judge="rater2"),
            cell(3, "score", None, judge="rater1"),
            cell(4, "score", None, judge="rater3"),
            cell(9, "score", None, judge="rater3"),
            cell(3, "score", rows[3]["rater2"], judge="rater2"),
        ],
        problem="Seven cells have no rating: empty, N/A, n/a, NA, - and ?.",
    )


def _decimal_commas(cases: Cases) -> None:
    values = ["4,5", "3,0", "2,25", "5,0", "1,75", "4,0", "3,5", "2,0", "4,75", "3,25"]
    rows: list[Row] = [
        {"Satz": number + 1, "Übersetzung": item["Google"], "Bewertung": values[number]}
        for number, item in enumerate(LETTERS[:10])
    ]
    cases.write("bewertung.csv", csv_text(rows, ";"))
    cases.expect(
        "bewertung.csv",
        "A German translator who rated sentences with decimal commas.",
        "ratings",
        10,
        {"id": "Satz", "candidate": "Übersetzung", "score": "Bewertung"},
        items=10,
        judges=1,
        dimensions=1,
        cells=[
            cell(0, "score", 4.5),
            cell(2, "score", 2.25),
            cell(2, "candidate", LETTERS[2]["Google"]),
        ],
    )


def _likert_words(cases: Cases) -> None:
    words = ["Strongly disagree", "Disagree", "Neutral", "Agree", "Strongly agree"]
    rows: list[Row] = [
        {"Participant": person, "Summary": f"{system}-{number}"}
        | {
            statement: words[rating(number, system, person, statement) - 1]
            for statement in ("The summary is fluent", "The summary is complete")
        }
        for person in ("P1", "P2", "P3")
        for number in range(3)
        for system in ("bart", "t5")
    ]
    rows[4]["The summary is complete"] = ""
    cases.write("survey_likert.csv", csv_text(rows))
    statements = ["The summary is fluent", "The summary is complete"]
    cases.expect(
        "survey_likert.csv",
        "A researcher with survey answers in words, a column per statement.",
        "ratings",
        18,
        {"judge": "Participant", "id": "Summary"},
        dimension_columns=statements,
        items=6,
        judges=3,
        dimensions=2,
        missing={"score": 1},
        scale=words,
        cells=[cell(0, "score", rows[0][statements[0]], dimension=statements[0])],
        note="An ordered scale of five words; `Summary` names system and item in one.",
    )


def _booleans(cases: Cases) -> None:
    rows: list[Row] = [
        {"case_id": f"T-{number:03d}", "llm_response": item["llama-3.1-8b"]}
        | {
            person: str(rating(number, "llama-3.1-8b", person) > 2).upper()
            for person in ("QA1", "QA2")
        }
        for number, item in enumerate(BIKES)
    ]
    cases.write("acceptable.csv", csv_text(rows))
    cases.expect(
        "acceptable.csv",
        "A quality team that ticked boxes in a spreadsheet: TRUE if the answer is acceptable.",
        "ratings",
        12,
        {"id": "case_id", "candidate": "llm_response"},
        judge_columns=["QA1", "QA2"],
        items=12,
        judges=2,
        dimensions=1,
        scale=["FALSE", "TRUE"],
        cells=[
            cell(0, "candidate", "It costs €1.50."),
            cell(0, "score", rows[0]["QA1"] == "TRUE", judge="QA1"),
        ],
    )


def _direct_assessment(cases: Cases) -> None:
    rows: list[Row] = []
    for number, item in enumerate(LETTERS[:6]):
        for system in LETTER_SYSTEMS:
            for user in ("engdeu0A01", "engdeu0A02"):
                base = 20 * rating(number, system, user)
                rows.append(
                    {"user": user, "system": system, "docID": item["doc"], "segID": number}
                    | {"src": item["en"], "tgt": item[system], "score": base - number % 7}
                )
    cases.write("da_export.csv", csv_text(rows))
    cases.expect(
        "da_export.csv",
        "A shared-task organiser with direct assessments from 0 to 100 (columns as in an Appraise "
        "export, with the texts joined).",
        "ratings",
        36,
        {
            "id": "segID",
            "system": "system",
            "unit": "docID",
            "judge": "user",
            "source": "src",
            "candidate": "tgt",
            "score": "score",
        },
        items=6,
        systems=3,
        judges=2,
        dimensions=1,
        cells=[cell(35, "unit", "letter-02"), cell(35, "score", rows[35]["score"])],
    )


def _mqm(cases: Cases) -> None:
    severities = ["no-error", "Minor", "Major"]
    categories = {
        "no-error": "No-error",
        "Minor": "Style/Awkward",
        "Major": "Accuracy/Mistranslation",
    }
    rows: list[Row] = []
    for number, item in enumerate(LETTERS[:5]):
        for system in ("DeepL", "inhouse-nmt"):
            for rater in ("rater1", "rater2"):
                count = 2 if (number, system, rater) == (2, "inhouse-nmt", "rater1") else 1
                for error in range(count):
                    level = severities[int(3 * noise("mqm", number, system, rater, error))]
                    level = "Major" if count == 2 else level
                    rows.append(
                        {"system": system, "doc": item["doc"], "doc_id": 1 + number // 3}
                        | {"seg_id": number + 1, "rater": rater, "source": item["en"]}
                        | {"target": item[system], "category": categories[level]}
                        | {"severity": level}
                    )
    cases.write("mqm_letters_ende.tsv", csv_text(rows, "\t"))
    cases.expect(
        "mqm_letters_ende.tsv",
        "A shared-task organiser with MQM annotations in the columns of the WMT MQM repository: "
        "one row per marked error, severities instead of numbers.",
        "ratings",
        21,
        {
            "system": "system",
            "unit": "doc",
            "id": "seg_id",
            "judge": "rater",
            "source": "source",
            "candidate": "target",
            "score": "severity",
        },
        items=5,
        systems=2,
        judges=2,
        dimensions=1,
        optional={"dimension": "category"},
        cells=[cell(0, "judge", "rater1"), cell(20, "candidate", LETTERS[4]["inhouse-nmt"])],
        problem="Rows are errors: a rater has two rows for one segment of one system, and a score "
        "needs weights for the severities.",
    )


def _crowd_batch(cases: Cases) -> None:
    rows: list[Row] = []
    for number, item in enumerate(TEXTS["news"]):
        for worker in ("A1Z7", "A9QX", "AB3K")[: 2 + number % 2]:
            rows.append(
                {
                    "HITId": f"3X{number:04d}",
                    "HITTypeId": "3N1V7",
                    "Title": "Rate a summary",
                    "AssignmentId": f"3Y{number:02d}{worker}",
                    "WorkerId": worker,
                    "AssignmentStatus": "Approved",
                    "WorkTimeInSeconds": 40 + number,
                    "Input.article": item["article"],
                    "Input.model": "bart" if number % 2 else "t5",
                    "Input.summary": item["bart" if number % 2 else "t5"],
                    "Answer.fluency": rating(number, "bart", worker, "fluency"),
                    "Answer.coverage": rating(number, "bart", worker, "coverage"),
                    "Approve": "",
                    "Reject": "",
                }
            )
    cases.write("Batch_4821093_batch_results.csv", csv_text(rows, quote_all=True))
    cases.expect(
        "Batch_4821093_batch_results.csv",
        "A researcher with the results of a batch of Amazon Mechanical Turk (Input.* and Answer.* "
        "columns).",
        "ratings",
        len(rows),
        {
            "id": "HITId",
            "judge": "WorkerId",
            "source": "Input.article",
            "system": "Input.model",
            "candidate": "Input.summary",
        },
        dimension_columns=["Answer.fluency", "Answer.coverage"],
        items=8,
        systems=2,
        judges=3,
        dimensions=2,
        cells=[
            cell(0, "candidate", "Elmbridge plants trees."),
            cell(0, "score", rows[0]["Answer.fluency"], dimension="Answer.fluency"),
        ],
    )


def _scores_with_text(cases: Cases) -> None:
    scores: list[Any] = ["4", "5", "3 - too long", "4", "two", "5", "see email", "3", "4", "1"]
    rows: list[Row] = [
        {"No": number + 1, "Answer": item["mistral-small"], "Score": scores[number]}
        for number, item in enumerate(BIKES[:10])
    ]
    cases.write("manager_scores.csv", csv_text(rows))
    cases.expect(
        "manager_scores.csv",
        "A manager who typed scores from 1 to 5 and sometimes words into the same column.",
        "ratings",
        10,
        {"id": "No", "candidate": "Answer", "score": "Score"},
        items=10,
        judges=1,
        dimensions=1,
        cells=[cell(0, "score", 4), cell(9, "score", 1)],
        problem="Scores of rows 2, 4 and 6 are no numbers ('3 - too long', 'two', 'see email'); a "
        "careful reader reports them and does not guess.",
    )


def _model_judge(cases: Cases) -> None:
    rows = [
        {
            "id": f"q{number}",
            "model": system,
            "response": item[system],
            "judge_model": judge,
            "scores": {d: rating(number, system, judge, d) for d in ("relevance", "accuracy")},
            "rationale": "The answer is short and to the point.",
        }
        for number, item in enumerate(BIKES[:5])
        for system in BIKE_SYSTEMS[:2]
        for judge in ("gpt-4o", "claude-sonnet-4")
    ]
    cases.write("llm_judge_scores.jsonl", jsonl_text(rows))
    cases.expect(
        "llm_judge_scores.jsonl",
        "An engineer whose script asks two models to grade answers: a nested object with a score "
        "per dimension.",
        "ratings",
        20,
        {"id": "id", "system": "model", "candidate": "response", "judge": "judge_model"},
        dimension_columns=["scores.relevance", "scores.accuracy"],
        items=5,
        systems=2,
        judges=2,
        dimensions=2,
        cells=[
            cell(1, "judge", "claude-sonnet-4"),
            cell(1, "score", rows[1]["scores"]["accuracy"], dimension="scores.accuracy"),
        ],
        note="`model` is the rated system, `judge_model` the judge.",
    )


def _segment_scores(cases: Cases) -> None:
    rows: list[Row] = [
        {"system": system, "seg_id": number}
        | {"bleu": round(60 * noise("bleu", system, number), 2)}
        | {"chrf": round(40 + 50 * noise("chrf", system, number), 2)}
        | {"comet": round(0.6 + 0.35 * noise("comet", system, number), 4)}
        for system in LETTER_SYSTEMS
        for number in range(12)
    ]
    rows[17]["comet"] = None
    cases.write("segment_scores.tsv", csv_text(rows, "\t"))
    cases.expect(
        "segment_scores.tsv",
        "A researcher with metric scores per segment from several tools in one table.",
        "scores",
        36,
        {"id": "seg_id", "system": "system"},
        dimension_columns=["bleu", "chrf", "comet"],
        items=12,
        systems=3,
        dimensions=3,
        missing={"score": 1},
        cells=[
            cell(0, "score", rows[0]["chrf"], dimension="chrf"),
            cell(17, "score", None, dimension="comet"),
        ],
    )
