"""Routes of adjudicators."""

from __future__ import annotations

from starlette.routing import Route

ROUTES: list[Route] = []
