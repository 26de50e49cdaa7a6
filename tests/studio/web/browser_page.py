"""A page in a real browser: all that the server sent, and all that went wrong, are kept."""

from __future__ import annotations

import json
from typing import Any

from studio.web.studio_server import StudioServer

WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"

UNNAMED = """[...document.querySelectorAll("button, input, textarea, select, a")].filter((one) =>
  !one.labels?.length && !one.ariaLabel && !one.textContent.trim()).map((one) => one.outerHTML)"""


class Visitor:
    """Somebody who follows a link and opens pages."""

    def __init__(self, browser: Any, server: StudioServer, name: str, **more: Any) -> None:
        self.site = server.site
        self.context = browser.new_context(**more)
        self.page = self.context.new_page()
        self.page.set_default_timeout(15_000)
        self.faults: list[str] = []
        self.answers: list[Any] = []
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", self._listen)
        self.page.on("response", lambda answer: self.answers.append(answer))  # noqa: PLW0108
        self.page.on("framenavigated", lambda frame: self.answers.clear())
        self.page.goto(server.site + server.links[name])
        self.page.wait_for_url(lambda address: "/join/" not in address)

    def _listen(self, message: Any) -> None:
        if "Content Security Policy" in message.text:
            self.faults.append(message.text)

    def open(self, path: str) -> None:
        self.page.goto(self.site + path)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def received(self) -> list[str]:
        """All that came since the page began."""
        return [
            json.dumps(response.headers) + response.text()
            for response in self.answers
            if response.status == 200
        ]

    def check_inert(self) -> None:
        """No fault, no script of the data, no sideways scrolling."""
        assert self.faults == []
        assert self.page.evaluate("window.hostile") is None
        code = self.page.locator("main script:not([type='application/json']), main img")
        assert code.count() == 0
        assert self.page.evaluate(WIDER) == 0
        assert self.page.evaluate(UNNAMED) == []
