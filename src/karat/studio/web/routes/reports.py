"""Routes of reports: pages of Karat's commands, each in a sandbox under a policy of its own.

Such a page has its scripts and style inside, which the policy names by their hashes. The sandbox
gives it an origin of its own: whatever ran there could neither read the studio nor write to it.
"""

from __future__ import annotations

import re
from html import unescape

from starlette.responses import HTMLResponse, Response

from karat.studio.browsing.reports import (
    explanation_page,
    find_report,
    has_references,
    report_page,
    reports,
)
from karat.studio.export.sets import NUGGETS
from karat.studio.live.estimates import has_asked
from karat.studio.store.projects import REVEALED, project
from karat.studio.web.calls import Call, NotAllowed, absent, route
from karat.studio.web.routes.browse import browsing
from karat.studio.web.staff import staff_page

_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')
_SANDBOX = "frame-ancestors 'none'; sandbox allow-scripts"


def _reports(call: Call) -> Response:
    found, shown = reports(call.studio.store), _tells(call)
    locked = [] if shown else [one for one in found if one.tells]
    ready = [one for one in found if one not in locked]
    return staff_page(call, "reports.html", ready=ready, locked=locked, metrics=_metrics(call))


def _metrics(call: Call) -> bool:
    """Return whether reports lack that a set with references would have."""
    nuggets_alone = [*project(call.studio.store).settings.tasks] == [NUGGETS]
    return nuggets_alone or has_references(call.studio.store)


def _tells(call: Call) -> bool:
    """Return whether reports may tell which systems lead."""
    return project(call.studio.store).state == REVEALED or has_asked(call.studio.store, call.who.id)


def _report(call: Call) -> Response:
    with absent():
        found = find_report(call.studio.store, call.path["name"])
    if found.tells and not _tells(call):
        told = "ask for estimates on the owner's page, which is recorded"
        raise NotAllowed(f"this report would tell which systems lead: {told}")
    return sandboxed(report_page(call.studio.store, found))


def _explanation(call: Call) -> Response:
    return sandboxed(
        explanation_page(call.studio.store, call.number("item"), call.number("output"))
    )


def sandboxed(page: str) -> Response:
    """Return a whole page under the policy that it states, in a sandbox."""
    stated = _POLICY.search(page)
    policy = unescape(stated[1]) if stated else "default-src 'none'"
    return HTMLResponse(page, headers={"content-security-policy": f"{policy}; {_SANDBOX}"})


ROUTES = [
    route("/browse/reports", browsing(_reports)),
    route("/browse/reports/{name}", browsing(_report)),
    route("/browse/segments/{item}/outputs/{output}", browsing(_explanation)),
]
