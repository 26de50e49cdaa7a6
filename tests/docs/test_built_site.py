"""The built site in a real browser: search works on pages opened as files, and nothing is fetched.

Skipped where `make docs` has not built the site, or there is no Chromium.
"""

from __future__ import annotations

import html
import json
import re
import shutil
from pathlib import Path

import pytest
from browser import CHROMIUM, chromium

from tools.docs.stage import ROOT

SITE = ROOT / "site"
ASKED = """<script>
const later = (call) => new Promise((done) => setTimeout(() => done(call()), 1000));
const inner = () => [...document.querySelectorAll("*")].map((e) => e.shadowRoot).filter(Boolean);
later(() => document.querySelector(".md-search__button").click())
  .then(() => later(() => {
    const field = inner().map((root) => root.querySelector("input")).find(Boolean);
    field.value = "perplexity";
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }))
  .then(() => later(() => {
    const found = inner().flatMap((root) => [...root.querySelectorAll("a")]).map((a) => a.href);
    const fetched = performance.getEntriesByType("resource").map((entry) => entry.name);
    const answer = document.createElement("pre");
    answer.id = "answer";
    answer.textContent = JSON.stringify({ found, fetched });
    document.body.append(answer);
  }));
</script></body>"""


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium")
@pytest.mark.skipif(not (SITE / "index.html").exists(), reason="make docs has not built the site")
def test_search_works_on_pages_opened_as_files(tmp_path: Path) -> None:
    site = tmp_path / "site"
    shutil.copytree(SITE, site)
    page = site / "index.html"
    page.write_text(page.read_text("utf-8").replace("</body>", ASKED), "utf-8")
    done = chromium(page, "--dump-dom", "--virtual-time-budget=15000")
    answer = re.search(r'<pre id="answer">(.*?)</pre>', done.stdout)
    assert answer, done.stderr[-2000:]
    search_answer = json.loads(html.unescape(answer[1]))
    assert any("glossary.html" in link for link in search_answer["found"])
    assert [name for name in search_answer["fetched"] if not name.startswith("file:")] == []
    assert "CONSOLE" not in done.stderr
