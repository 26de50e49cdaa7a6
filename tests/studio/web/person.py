"""An assessor before a page in a real browser, and what the store has of the answers."""

from __future__ import annotations

import json
from typing import Any

from studio.store_rows import StoredJudgement, current
from studio.web.studio_server import StudioServer

from karat.studio.store.people import assessors
from karat.studio.store.store import Store


class Person:
    """Somebody before a page; all that the server sends is kept."""

    def __init__(
        self, browser: Any, server: StudioServer, name: str, context: Any = None, **more: Any
    ) -> None:
        self.context = context or browser.new_context(**more)
        self.page = self.context.new_page()
        self.page.set_default_timeout(15_000)
        self.answers: list[Any] = []
        self.faults: list[str] = []
        self.page.on("response", self._keep)
        self.page.on("framenavigated", lambda frame: self.answers.clear())
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("dialog", lambda dialog: dialog.accept())
        self.page.goto(server.site + server.links[name])
        self.page.wait_for_selector("#judge .output")

    def _keep(self, answer: Any) -> None:
        self.answers.append(answer)

    def received(self) -> list[str]:
        """Return all that the server sent since the page began, headers and texts."""
        return [
            json.dumps(response.headers) + response.text()
            for response in self.answers
            if response.status == 200
        ]

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def saved(self) -> None:
        self.page.wait_for_function(
            "() => document.getElementById('saved').textContent === 'Saved'"
        )

    def output(self) -> str:
        text: str = self.page.text_content("#judge .output .text")
        return text

    def go_on(self) -> None:
        """Press Enter, and wait for another item."""
        before = self.page.text_content("#judge")
        self.press("Enter")
        self.page.wait_for_function(
            "before => document.getElementById('judge').textContent !== before",
            arg=before,
        )

    def count(self) -> str:
        text: str = self.page.text_content("#count")
        return text


def rows(server: StudioServer, name: str, read: Any = current) -> list[StoredJudgement]:
    with Store.reading(server.store) as store:
        (id,) = [person.id for person in assessors(store) if person.name == name]
        judgements: list[StoredJudgement] = read(store, id)
        return judgements


def values(server: StudioServer, name: str) -> list[dict[str, Any]]:
    return [row.value for row in rows(server, name)]
