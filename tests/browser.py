"""A real browser: Chromium without a window, driven by scripts put into copies of a page.

Where there is none (`apt-get install chromium`), the tests that need it are skipped.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

CHROMIUM = next((p for p in map(shutil.which, ("chromium", "chromium-browser")) if p), None)
_SILENT = ("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run")
_ANSWER = re.compile(r'<pre id="answer">(.*?)</pre>', re.DOTALL)


def chromium(page: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Open a page and do what the options say."""
    profile = f"--user-data-dir={page.parent / 'profile'}"
    return subprocess.run(
        [str(CHROMIUM), *_SILENT, profile, "--enable-logging=stderr", *options, page.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )


def ask(page: Path, program: str, *options: str) -> Any:
    """What a program, the body of a JavaScript function, returns within the page."""
    script = (
        "addEventListener('load', () => { const answer = document.createElement('pre');"
        "answer.id = 'answer'; answer.textContent = JSON.stringify((() => {"
        f"{program}"
        "})()); document.body.append(answer); });"
    )
    text = page.read_text("utf-8").replace("</body>", f"<script>{script}</script></body>")
    copy = page.with_name(f"asked-{page.name}")
    copy.write_text(_permitted(text, script), "utf-8")
    done = chromium(copy, "--dump-dom", "--virtual-time-budget=2000", *options)
    answer_match = _ANSWER.search(done.stdout)
    assert answer_match, f"the page did not answer: {done.stderr[-2000:]}"
    return json.loads(html.unescape(answer_match[1]))


def printed_page(page: Path) -> str:
    """The page as it is on paper, its policy made to fit; nothing else in that is loosened."""
    text = page.read_text("utf-8")
    (style,) = re.findall("<style>(.*?)</style>", text, re.DOTALL)
    assert "@media print" in style
    on_paper = style.replace("@media print", "@media all")
    return text.replace(style, on_paper).replace(_hash(style), _hash(on_paper))


def _permitted(text: str, script: str) -> str:
    """The page with one more script in its policy; nothing else in it is loosened."""
    assert text.count("script-src ") == 1
    allowed = text.replace("script-src ", f"script-src {_hash(script)} ")
    return allowed.replace(f"{_hash(script)} 'none'", _hash(script))


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def faults(page: Path) -> list[str]:
    """What the page says on the console, runs of the text it quotes, or fetches."""
    done = chromium(page, "--dump-dom", "--virtual-time-budget=1000")
    program = "return [window.hostile ?? 0, performance.getEntriesByType('resource').length]"
    hostile, fetched = ask(page, program)
    console_lines = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return (
        console_lines + ["it ran text"] * bool(hostile) + ["it fetched something"] * bool(fetched)
    )
