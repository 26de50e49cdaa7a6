"""Markdown, LaTeX and HTML: no string escapes its cell, and the page is whole."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from karat.report.markup import data
from karat.report.model import Document, ExampleCase, Examples, Figure, Table, TextPassage
from karat.report.render.html import Section, definitions, render_html, render_page
from karat.report.render.latex import render_latex
from karat.report.render.markdown import render_markdown
from karat.report.render.records import render_json
from karat.report.render.text import render_text
from karat.results import Column

VOID = {"meta", "br", "circle", "line", "rect", "input"}
ANY_TEXT = st.text(st.characters(), max_size=40)


class Page(HTMLParser):
    """Collects elements and text, and fails on a tag that is closed out of turn."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(source)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.texts.setdefault(tag, []).append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in VOID
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        for tag in set(self.open):
            self.texts[tag][-1] += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def everywhere(text: str) -> Document:
    """A document with the text in each place that takes one."""
    columns = (Column("g", text, help=text), Column("s", text, help=text))
    table = Table("rows", text, columns, ({"g": text, "s": text},), "g", notes=(text,))
    figure = Figure(text, lambda: "<svg></svg>", text)
    return Document(text, (table, figure), text, {text: text}, (text,))


TAGS = [tag for tag, _ in Page(render_html(everywhere("x"))).elements]


@given(ANY_TEXT.map(lambda text: f"x{text}"))
def test_no_string_adds_an_element_to_the_page(text: str) -> None:
    assume(not any(len(term) > 1 and term in text for term in definitions()))  # pages explain terms
    assert [tag for tag, _ in Page(render_html(everywhere(text))).elements] == TAGS


@pytest.mark.parametrize("attack", ["</td><script>", '" onload="x', "' x='", "&lt;", "</title>"])
def test_attacks_arrive_as_text(attack: str) -> None:
    parsed = Page(render_html(everywhere(attack)))
    assert parsed.texts["td"] == [attack]
    assert parsed.all("th")[0]["title"] == attack
    assert all(set(a) <= {"scope", "class", "title", "colspan"} for a in parsed.all("th"))


def test_page_parts(document: Document) -> None:
    parsed = Page(render_html(document))
    assert parsed.texts["title"][0] == parsed.texts["h1"][0] == "Two <systems>"
    assert parsed.texts["caption"] == ["Scores", "Words"]
    heads = [th for th in parsed.all("th") if th["scope"] == "col"]
    assert [th.get("title") for th in heads][:2] == [None, 'On a "0..100" scale.']
    assert len(parsed.all("tbody")) == 3
    assert parsed.texts["strong"][0] == "30.12"
    assert parsed.texts["figcaption"] == ["Figure & title"]
    folded = [details for details in parsed.all("details") if details.get("class") == "table"]
    assert [("open" in details, details["id"]) for details in folded] == [
        (False, "table-rows"),
        (False, "table-words"),
    ]
    assert parsed.texts["dd"][-1:] == list(document.signatures.values())[-1:]
    assert parsed.texts["footer"][0].endswith("karat score 'x\ny' ``` -- \\udc80")


def test_page_asks_the_network_for_nothing(document: Document) -> None:
    output = render_html(document)
    parsed = Page(output)
    fetching = {"link", "img", "iframe", "object", "embed", "video", "audio", "base", "form"}
    assert not fetching & {tag for tag, _ in parsed.elements}
    assert not [a for _, a in parsed.elements if {"src", "srcset", "action"} & set(a)]
    assert all(str(a["href"]).startswith("#") for _, a in parsed.elements if "href" in a)
    assert not re.search(r"@import|url\(|fetch\(|XMLHttp", output)
    (policy,) = [m["content"] for m in parsed.all("meta") if "http-equiv" in m]
    assert policy is not None
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy


def test_the_policy_names_the_exact_text_of_scripts_and_styles(document: Document) -> None:
    output = render_html(document)
    (policy,) = [m["content"] for m in Page(output).all("meta") if "http-equiv" in m]
    for kind in ("script", "style"):
        texts = re.findall(f"<{kind}>(.*?)</{kind}>", output, re.DOTALL)
        digests = [b64encode(sha256(text.encode()).digest()).decode() for text in texts]
        names = " ".join(f"'sha256-{digest}'" for digest in digests)
        assert f"; {kind}-src {names};" in str(policy)
    assert "script-src 'none'" in render_html(everywhere("x"))


def test_numbers_carry_their_full_value_for_sorting(document: Document) -> None:
    values = [
        td["data-value"] for td in Page(render_html(document)).all("td") if "data-value" in td
    ]
    assert values[:2] == ["30.123456789012344", "7"]
    assert "inf" in values


def test_script_comes_only_where_there_is_something_to_sort(document: Document) -> None:
    assert len(Page(render_html(document)).all("script")) == 1
    assert Page(render_html(everywhere("x"))).all("script") == []


def test_empty_table_says_so() -> None:
    table = Table("rows", "T", (Column("a", "One"), Column("b", "Two")), ())
    parsed = Page(render_html(Document("T", (table,), "karat", {})))
    assert parsed.texts["td"] == ["no rows"]
    assert parsed.all("td")[0]["colspan"] == "2"
    assert parsed.all("details") == []


def test_a_page_lists_its_sections_where_they_are_many() -> None:
    few_sections = [Section(f"s{n}", f"Part <{n}>", f"<p>{n}</p>") for n in range(2)]
    more = [*few_sections, Section("s2", "Part 2", "<p>2</p>")]
    assert Page(render_page("T", [], few_sections)).all("nav") == []
    listed = Page(render_page("T", [], more))
    assert [a["href"] for a in listed.all("a")] == ["#s0", "#s1", "#s2"]
    assert listed.texts["a"] == ["Part <0>", "Part <1>", "Part 2"]


ANSWERED = Document("T", (), "karat", {}, (), {}, ("A beats B: +1.0 [0.5, 1.5].",), "80 segments.")


def test_the_answer_leads_in_every_format_for_people() -> None:
    parsed = Page(render_html(ANSWERED))
    assert parsed.texts["header"] == ["TA beats B: +1.0 [0.5,\xa01.5].80 segments."]
    assert render_markdown(ANSWERED).split("\n")[2] == r"A beats B: +1.0 \[0.5, 1.5\]."
    assert render_text(ANSWERED).split("\n")[:3] == ["T", "", "A beats B: +1.0 [0.5, 1.5]."]
    record = json.loads("".join(render_json(ANSWERED)))
    assert record["summary"] == "A beats B: +1.0 [0.5, 1.5]."
    assert "summary" not in json.loads("".join(render_json(replace(ANSWERED, answer=()))))


def test_examples_are_cards_on_pages_and_a_table_elsewhere() -> None:
    table = Table("segments", "Cases", (Column("text", "Text"),), ({"text": "a b"},))
    case = ExampleCase(
        "Segment 1", "BLEU 1 → 2", (TextPassage("A", "a <b> c", ((2, 5),)),), {"by": "x"}
    )
    other = case._replace(tags={"by": "y"})
    document = Document("T", (Examples("E", (case, other), table, {"by": "By"}),), "karat", {})
    parsed = Page(render_html(document))
    assert parsed.texts["mark"] == ["<b>", "<b>"]
    assert parsed.texts["option"] == ["x", "y"]
    assert [a["data-tag-0"] for a in parsed.all("article")] == ["x", "y"]
    assert parsed.all("table") == []
    assert "a b" in render_markdown(document)


def test_long_tables_carry_their_later_rows_as_data() -> None:
    rows = tuple({"a": f"</script><b>{n}", "b": n} for n in range(250))
    table = Table("rows", "T", (Column("a", "A", filter=True), Column("b", "B", detail=True)), rows)
    output = render_html(Document("T", (table,), "karat", {}))
    assert len(Page(output).all("td")) == 200
    (data,) = re.findall('<script type="application/json">(.*?)</script>', output)
    ((name, all_rows),) = json.loads(data)
    assert (name, len(all_rows)) == (None, 250)
    assert all_rows[249].startswith("<tr><td>&lt;/script&gt;&lt;b&gt;249</td>")


def test_page_takes_markup_as_it_is_and_quotes_the_title() -> None:
    output = render_page("a < b", ["<p>{one}</p>", "<p>two</p>"], [])
    assert "<title>a &lt; b</title>" in output
    assert "<p>{one}</p>\n<p>two</p>" in output


def test_style_follows_the_reader_and_the_printer() -> None:
    style = Path(__file__).parents[2] / "src/karat/report/page/style.css"
    text = style.read_text(encoding="utf-8")
    assert "prefers-color-scheme: dark" in text
    assert "@media print" in text
    assert style.read_text(encoding="utf-8") in render_page("T", [], [])


def cells_of(line: str) -> list[str]:
    return re.split(r"(?<!\\)(?:\\\\)*\|", line)[1:-1]


@given(ANY_TEXT)
def test_markdown_rows_keep_their_cells(text: str) -> None:
    columns = (Column("a", text), Column("b", "B"))
    table = Table("rows", "", columns, ({"a": text, "b": 1},))
    lines = render_markdown(Document("T", (table,), "karat", {})).split("\n")
    assert [len(cells_of(line)) for line in lines if line.startswith("|")] == [2, 2, 2]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a|b", r"a\|b"),
        ("a\nb", "a<br>b"),
        ("\\|", r"\\\|"),
        ("snake_case", "snake_case"),
        ("_x_", r"\_x\_"),
        ("<b>*x*`", r"\<b\>\*x\*\`"),
    ],
)
def test_markdown_escapes(text: str, expected: str) -> None:
    table = Table("rows", "", (Column("a", "A"),), ({"a": text},))
    assert f"\n| {expected} |\n" in render_markdown(Document("T", (table,), "karat", {}))


@given(ANY_TEXT)
def test_markdown_code_block_cannot_be_closed_from_within(text: str) -> None:
    lines = render_markdown(Document("T", (), f"``` {text}", {})).split("\n")
    fence = lines[-2]
    assert set(fence) == {"`"}
    assert lines.index(fence) < len(lines) - 3
    assert [line for line in lines if line.strip().startswith(fence)] == [fence, fence]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\\", r"\textbackslash{}"),
        ("{}$&#_%", r"\{\}\$\&\#\_\%"),
        ("~^<>", r"\textasciitilde{}\textasciicircum{}\textless{}\textgreater{}"),
        ("[1]*", "{[}1{]}{*}"),
        ("---", "-{}-{}-"),
        ("a\n\nb", "a  b"),
    ],
)
def test_latex_escapes(text: str, expected: str) -> None:
    table = Table("rows", "", (Column("a", "A"),), ({"a": text},))
    assert f"\n{expected} \\\\\n" in render_latex(Document("T", (table,), "karat", {}))


@given(ANY_TEXT)
def test_latex_comments_stay_comments_and_braces_balance(text: str) -> None:
    output = render_latex(everywhere(text))
    comments, rest = output.split("\n\n", 1)
    assert all(line.startswith("%") for line in comments.split("\n"))
    code = re.sub(r"(?m)^%.*$", "", rest).replace(r"\{", "").replace(r"\}", "")
    assert code.count("{") == code.count("}")
    assert not re.search(r"(?<!\\)[%#$]", code)


def test_latex_numbers_are_typeset(document: Document) -> None:
    output = render_latex(document)
    assert r"& $-$2.0 &" in output
    assert r"& $\infty$ &" in output
    assert r"& \textbf{30.12} & -- &" in output


def test_a_page_names_no_folder_of_the_disk() -> None:
    command = "karat score /home/ann/a.txt x=/data/b.txt -r '/tmp/my ref.txt' sub/c.txt -o /o.html"
    page = render_html(Document("T", (), command, {}))
    assert "karat score a.txt x=b.txt -r &#x27;my ref.txt&#x27; sub/c.txt -o /o.html" in page


def test_terms_of_the_answer_and_of_heads_are_explained_on_the_page() -> None:
    table = Table("rows", "T", (Column("a", "A"), Column("b", "B", help="Only here.")), ({"a": 1},))
    document = Document("T", (table,), "", {}, (), {}, ("BLEU does not tell them apart.",))
    terms = Page(render_html(document)).texts["dt"]
    assert {"BLEU", "A", "B"} <= set(terms)
    assert "chrF" not in terms  # the page does not use it


def test_columns_of_one_title_are_explained_by_table_where_they_differ() -> None:
    first = Table("a", "Scores", (Column("l", "Low", help="Of 95%."),), ({"l": 1},))
    second = Table("b", "Differences", (Column("l", "Low", help="Corrected."),), ({"l": 1},))
    third = Table("c", "Others", (Column("l", "Low", help="Of 95%."),), ({"l": 1},))
    texts = Page(render_html(Document("T", (first, second, third), "", {}))).texts
    assert texts["dt"] == ["Low (Scores)", "Low (Differences)"]
    assert texts["dd"] == ["Of 95%.", "Corrected."]


def test_links_of_the_glossary_are_shown_by_their_text() -> None:
    document = Document("T", (), "", {}, answer=("Segments of the set.",))
    assert "See evaluation set." in Page(render_html(document)).texts["dd"]


@given(ANY_TEXT | st.sampled_from(["</script>", "<!--<script>", "\\</SCRIPT>", "a < b"]))
def test_data_stays_in_its_element_and_reads_back(text: str) -> None:
    markup = data([text])
    inner = markup.removeprefix('<script type="application/json">').removesuffix("</script>")
    assert json.loads(inner) == [text]
    assert not re.search("</|<!|<script", inner, re.IGNORECASE)


def test_ids_of_tables_are_addresses_and_differ() -> None:
    """Keys hold names of the user, such as those of dimensions; an id holds no space."""
    keys = ("plane-d - e", "plane-d-e", "plane-d_e", "plane-d.e", "plane-\u202ee", "plane-<b>")
    tables = tuple(Table(key, key, (Column("x", "X"),), ({"x": 1},)) for key in keys)
    page = Page(render_html(Document("Planes", tables, "", {})))
    ids = [look["id"] or "" for _, look in page.elements if "id" in look]
    assert {"table-plane-d-e", "table-plane-d_20_-_20_e"} < set(ids)
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[\w-]+", table_id, re.ASCII) for table_id in ids)
    links = [look["href"] for name, look in page.elements if name == "a"]
    assert len(links) > len(keys)
    assert {f"#{table_id}" for table_id in ids} >= set(links)
