"""The pages for people: each address here has a ``.json`` twin."""

from __future__ import annotations

from litestar import Router

from unworn.server.browser.board_handlers import BOARD_HANDLERS
from unworn.server.browser.holdout_handlers import HOLDOUT_HANDLERS
from unworn.server.browser.manage_handlers import MANAGE_HANDLERS
from unworn.server.browser.page_reply import answer_page_error
from unworn.server.browser.site_handlers import SITE_HANDLERS

ROUTES = [
    Router(
        "/",
        route_handlers=[*SITE_HANDLERS, *BOARD_HANDLERS, *MANAGE_HANDLERS, *HOLDOUT_HANDLERS],
        exception_handlers={Exception: answer_page_error},
        include_in_schema=False,
    )
]
