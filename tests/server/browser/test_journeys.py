"""End to end in a real browser: an organiser, two participants, an analyst; with and without scripts and a mouse."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.browser.real_browser import Served, chromium, run_unworn, serve
from tests.server.browser.site_under_test import IDS, make_holdout, predictions, true_labels

pytestmark = pytest.mark.browser
NASTY = "<img src=x onerror=alert(1)><script>alert(2)</script>"
SEED = 77
_PATIENCE = 180_000
"""Milliseconds: far more than any page takes, also where other tests run."""
PARTICIPANT = ("/boards/intents", "/boards/intents/submit", "/boards/intents/mine", "/boards/intents/rules")
OWNER = ("/", *PARTICIPANT, "/boards/intents/manage", "/cards/intents/1")
HOLDOUT = (
    "/holdouts/churn",
    "/holdouts/churn/answers",
    "/holdouts/churn/ledger?verify=yes",
    "/holdouts/churn/report",
    "/holdouts/churn/manage",
)
NOBODY = ("/sign-in", "/sign-out", "/boards/intents/rules")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A board made by the command line, a holdout, and a server over both."""
    root, home = tmp_path_factory.mktemp("served"), tmp_path_factory.mktemp("home")
    labels = root / "labels.csv"
    rows = zip(IDS, true_labels(SEED), strict=True)
    labels.write_text("id,label\n" + "".join(f"{id},{label}\n" for id, label in rows))
    made = run_unworn(
        *("board", "new", str(root / "intents"), "--labels", str(labels), "--id", "id", "--target", "label"),
        *("--metric", "accuracy", "--title", f"Intents {NASTY}"),
        home=home,
    )
    assert made.returncode == 0, made.stdout + made.stderr
    make_holdout(root, SEED)
    with serve(root, home) as served:
        yield served


def _page(browser: Any, served: Served, link: str | None = None, **options: Any) -> Any:
    """A window of somebody's own; signed in by their link. A dialog would be a script that ran."""
    context = browser.new_context(base_url=served.address, viewport={"width": 1280, "height": 900}, **options)
    page = context.new_page()
    page.set_default_timeout(_PATIENCE)
    ran: list[str] = []
    page.on("dialog", lambda dialog: (ran.append(dialog.message), dialog.dismiss()))
    page.ran = ran
    if link is not None:
        page.goto(link)
        page.get_by_role("button", name="Sign in as").click()
    return page


def _invite(owner: Any, name: str, team: str) -> str:
    owner.goto("/boards/intents/manage")
    owner.get_by_label("Name", exact=True).fill(name)
    owner.get_by_label("Team").fill(team)
    owner.get_by_role("button", name="Make an invitation").click()
    return str(owner.locator("pre", has_text="/sign-in/").inner_text())


@pytest.fixture(scope="module")
def owner(browser: Any, site: Served) -> Iterator[Any]:
    page = _page(browser, site, site.link)
    yield page
    assert page.ran == []


@pytest.fixture(scope="module")
def participant(browser: Any, owner: Any, site: Served) -> Iterator[Any]:
    """Somebody with a nasty name, who has submitted something with a nasty name."""
    page = _page(browser, site, _invite(owner, f"bo {NASTY}", f"Tidewater {NASTY}"))
    _submit(page, predictions(SEED, 0.8), name=NASTY, message=NASTY)
    page.wait_for_url(re.compile("/submissions/"))
    yield page
    assert page.ran == []


def _submit(page: Any, file: bytes, name: str = "", message: str = "") -> None:
    page.goto("/boards/intents/submit")
    page.get_by_label("A file of predictions").set_input_files(
        {"name": "preds.csv", "mimeType": "text/csv", "buffer": file}
    )
    page.get_by_label("Its name").fill(name)
    page.get_by_label("A message").fill(message)
    page.get_by_role("button", name="Submit", exact=True).click()


@pytest.mark.parametrize("scripts", [True, False])
def test_two_participants_submit_and_a_card_is_verified(
    browser: Any, site: Served, owner: Any, tmp_path: Path, scripts: bool
) -> None:
    word = "with" if scripts else "without"
    first = _page(browser, site, _invite(owner, f"ada {word}", f"Ada {word}"), java_script_enabled=scripts)
    second = _page(browser, site, _invite(owner, f"ben {word}", f"Ben {word}"), java_script_enabled=scripts)
    _submit(first, predictions(SEED, 0.9 if scripts else 0.91), name="careful")
    assert "Received and scored." in first.get_by_role("status").inner_text()
    assert first.get_by_text("Confirmed: the sealed rows agree").is_visible()

    _submit(second, f"id,prediction\n{IDS[3]},refund\n{IDS[3]},refund\n".encode())
    alert = second.get_by_role("alert")
    assert "This file cannot be scored" in alert.inner_text()
    assert "line 3" in alert.inner_text()
    _submit(second, predictions(SEED, 0.4 if scripts else 0.41), name="hasty")
    assert "Received and scored." in second.get_by_role("status").inner_text()

    second.get_by_role("link", name="Standings").click()
    rows = second.get_by_role("row").filter(has_text=f" {word}")
    assert [row.get_by_role("rowheader").inner_text().splitlines()[0].split(" your")[0] for row in rows.all()] == [
        f"Ada {word}",
        f"Ben {word}",
    ]
    ranks = [int(row.get_by_role("cell").first.inner_text()[0]) for row in rows.all()]
    assert ranks[0] < ranks[1]
    assert "your team" in rows.nth(1).inner_text()

    rows.first.get_by_role("link").click()
    first_card = second.get_by_role("link", name="Answer")
    first_card.click()
    with second.expect_download() as download:
        second.get_by_role("link", name="Download the card").click()
    card = tmp_path / "card.json"
    download.value.save_as(card)
    verified = run_unworn("verify", str(card), home=tmp_path)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    card.write_text(card.read_text().replace('"value": 0.', '"value": 0.0'))
    assert run_unworn("verify", str(card), home=tmp_path).returncode != 0
    assert first.ran == second.ran == []


def test_a_file_is_dropped(browser: Any, site: Served, participant: Any, tmp_path: Path) -> None:
    file = tmp_path / "dropped.csv"
    file.write_bytes(predictions(SEED, 0.6))
    participant.goto("/boards/intents/submit")
    box = participant.get_by_label("A file of predictions").bounding_box()
    devtools = participant.context.new_cdp_session(participant)
    for kind in ("dragEnter", "dragOver", "drop"):
        data = {"items": [], "files": [str(file)], "dragOperationsMask": 1}
        place = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
        devtools.send("Input.dispatchDragEvent", {"type": kind, **place, "data": data})
    names = participant.get_by_label("A file of predictions").evaluate("field => [...field.files].map(f => f.name)")
    assert names == ["dropped.csv"]


def test_an_analyst_sees_the_price_before_it_is_charged(browser: Any, site: Served) -> None:
    page = _page(browser, site, java_script_enabled=False)
    page.goto("/holdouts/churn")
    assert "Please sign in first." in page.get_by_role("alert").inner_text()
    page.get_by_label("Code, link or token").fill(site.tokens["analyst"])
    page.get_by_role("button", name="Sign in").click()
    assert page.url.endswith("/holdouts/churn")
    page.get_by_label("Question").fill("age > 65 and plan = 'basic'")
    page.get_by_label("Your guess").fill("17 %")
    page.get_by_role("button", name="See what it costs").click()
    assert "If the rows agree with the guess" in page.locator(".quote").inner_text()
    assert page.locator(".tiles dd").first.inner_text() == "0"
    page.get_by_role("button", name="Ask, and be charged").click()
    assert page.get_by_role("heading", name="Certificate").is_visible()
    page.goto("/holdouts/churn/ledger")
    page.get_by_role("button", name="Verify the ledger now").click()
    assert "The ledger holds." in page.get_by_role("status").inner_text()
    page.get_by_role("button", name="Sign out").click()
    assert page.get_by_role("heading", name="You have signed out").is_visible()


def test_everything_can_be_done_by_keyboard(browser: Any, site: Served, owner: Any, tmp_path: Path) -> None:
    file = tmp_path / "keys.csv"
    file.write_bytes(predictions(SEED, 0.7))
    page = _page(browser, site)
    choosers: list[Any] = []
    page.on(
        "filechooser", lambda chooser: choosers.append(chooser)
    )  # early: what opens before the browser knows of it is not told
    page.goto(_invite(owner, "kit", "Keys"))
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    _tab_to(page, "Sign in as kit")
    page.keyboard.press("Enter")
    page.wait_for_url("**/")
    for words, address in (("Intents", "**/boards/intents"), ("Submit", "**/boards/intents/submit")):
        _tab_to(page, words)
        page.keyboard.press("Enter")
        page.wait_for_url(address)
    _tab_to(page, "file", by="id")
    for seconds in range(1, 20):
        page.keyboard.press("Space")
        page.wait_for_timeout(1000 * seconds)
        if choosers:
            break
    choosers[0].set_files(file)
    _tab_to(page, "name", by="id")
    page.keyboard.type("by keys")
    _tab_to(page, "submit", by="value")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/submissions/"))
    assert page.get_by_role("heading", name="by keys").is_visible()


def _tab_to(page: Any, wanted: str, by: str = "textContent") -> None:
    """Press Tab until something is in focus, each time where it can be seen."""
    for _ in range(40):
        page.keyboard.press("Tab")
        if str(page.evaluate(f"document.activeElement.{by} ?? ''")).strip().startswith(wanted):
            shown = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert shown != "none", f"the focus on {wanted} cannot be seen"
            return
    raise AssertionError(f"{wanted} cannot be reached by keyboard")


def test_no_page_scrolls_sideways_on_a_phone(browser: Any, site: Served, owner: Any, participant: Any) -> None:
    for page, addresses in ((owner, (*OWNER, *HOLDOUT)), (participant, (participant.url, *PARTICIPANT))):
        page.set_viewport_size({"width": 360, "height": 740})
        for address in addresses:
            page.goto(address)
            wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert wide <= 0, f"{address} is {wide} pixels too wide"
        page.set_viewport_size({"width": 1280, "height": 900})


_LINES_OF_WORDS = """() => [...document.querySelectorAll("thead th, td.word")].flatMap(cell => {
    const words = [];
    const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) for (const found of walker.currentNode.data.matchAll(/[\\w-]+/g)) {
        const range = document.createRange();
        range.setStart(walker.currentNode, found.index);
        range.setEnd(walker.currentNode, found.index + found[0].length);
        words.push([found[0], range.getClientRects().length]);
    }
    return words;
})"""


def test_no_word_at_the_head_of_a_column_or_of_a_kind_is_cut(browser: Any, site: Served) -> None:
    page = _page(browser, site)
    page.goto("/sign-in")
    page.get_by_label("Code, link or token").fill(site.tokens["analyst"])
    page.get_by_role("button", name="Sign in").click()
    page.goto("/holdouts/churn")
    page.get_by_label("Question").fill("age > 65 and plan = 'basic' and age < 80 and age > 20 and not plan = 'plus'")
    page.get_by_label("Your guess").fill("17 %")
    page.get_by_role("button", name="See what it costs").click()
    page.get_by_role("button", name="Ask, and be charged").click()
    for width in (1280, 800):
        page.set_viewport_size({"width": width, "height": 900})
        for address in ("/holdouts/churn", "/holdouts/churn/answers", "/holdouts/churn/ledger", "/boards/intents"):
            page.goto(address)
            lines = page.evaluate(_LINES_OF_WORDS)
            assert lines or address == "/boards/intents"
            assert [word for word, count in lines if count > 1] == [], address


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 360)])
def test_axe_finds_no_serious_fault(
    browser: Any, site: Served, owner: Any, participant: Any, scheme: str, width: int
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    axe = Axe()
    nobody = _page(browser, site)
    visits = ((owner, (*OWNER, *HOLDOUT)), (participant, (participant.url, *PARTICIPANT)), (nobody, NOBODY))
    for page, addresses in visits:
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 900})
        for address in addresses:
            page.goto(address)
            told = axe.run(page).response
            assert len(told["passes"]) > 10, "axe has not looked"
            faults = [(fault["id"], [node["html"][:200] for node in fault["nodes"]]) for fault in told["violations"]]
            assert faults == [], f"{address}: {faults}"
        page.emulate_media(color_scheme="light")
        page.set_viewport_size({"width": 1280, "height": 900})


def test_names_in_html_are_shown_as_they_are_written(owner: Any, participant: Any) -> None:
    for page, address in (
        (owner, "/boards/intents"),
        (owner, "/boards/intents/manage"),
        (owner, "/"),
        (participant, "/"),
    ):
        page.goto(address)
        assert page.get_by_text(NASTY).first.is_visible()
        assert page.locator("script, img[onerror]").count() == 0
    assert owner.ran == participant.ran == []
