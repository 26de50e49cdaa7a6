"""Routes for browsing: owners, and everybody after the reveal."""

from __future__ import annotations

from starlette.routing import Route

ROUTES: list[Route] = []
