"""Cards: what they prove alone, what with the ledger, and that every change to them is found."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unworn import Certificate, Holdout, col, function, mean, share
from unworn.errors import Failed, LedgerError, Mismatch, Tampered
from unworn.ledger import GENESIS, Entry, Key, MemoryStore
from unworn.mechanisms import GuessAndCheck, Naive, Rounding, SampleSplitting
from unworn.mechanisms.contract.conversation import publish_symbol
from unworn.record.certificate import ASSUMPTIONS, IN_MEMORY, NO_PROMISE, replay

X = np.random.default_rng(0).normal(size=(800, 2))
Y = (X[:, 0] > 0).astype(int)


class Model:
    def __init__(self, cut: float) -> None:
        self.cut = cut

    def predict(self, X: Any) -> Any:
        return (X[:, 0] > self.cut).astype(int)


def busy(**terms: Any) -> Holdout:
    """A holdout with every form of entry: agreed, surprised, gridded, batched, sharpened, paired, raised, final."""
    holdout = Holdout(X, Y, name="churn", **{"ledger": None, **terms}, practice=0)
    agreed = holdout.ask(share(col("x0") > 0.5), 0.31)
    if isinstance(holdout.mechanism, GuessAndCheck):
        holdout.sharpen(agreed)
    holdout.ask(share(col("x0") > 1.0), 0.9)
    holdout.ask_many([mean(col("x1").fill(0), range=(-5, 5)), share(col("x1") > 0)], [None, 0.5])
    if isinstance(holdout.mechanism, SampleSplitting):  # it does not run code
        holdout.compare(Model(0.0).predict(X), Model(0.1).predict(X), discordance=0.1)
        return holdout
    holdout.compare(Model(0.0), Model(0.1), discordance=0.1)
    holdout.compare(Model(0.0), Model(3.0))
    with pytest.raises(Failed):
        holdout.ask(function(lambda columns: 1 / 0, range=(0, 1), name="fails"))
    holdout.score(Model(0.2), 0.9)
    if isinstance(holdout.mechanism, GuessAndCheck):
        holdout.final([agreed, share(col("x1") > 0.1)], close=False)
        holdout.final([share(col("x1") > 0.3), share(col("x1") > 0)])
    return holdout


def cards(holdout: Holdout) -> list[Certificate]:
    entries = holdout._desk.store.read(holdout.id)
    return [Certificate.of(entries[0], entry) for entry in entries[1:]]


@pytest.fixture(scope="module")
def holdout() -> Holdout:
    return busy()


@pytest.fixture(scope="module")
def chain(holdout: Holdout) -> list[Entry]:
    return holdout._desk.store.read(holdout.id)


def test_every_form_of_entry_proves_itself_alone_and_replays(
    holdout: Holdout, chain: list[Entry], tmp_path: Path
) -> None:
    forms = [entry.body["published"][3] for entry in chain[1:]]
    assert {"guess", "surprise", "grid", "final"} == set(forms)
    assert any(entry.body["symbol"] == "raised" for entry in chain[1:])
    assert any(isinstance(entry.body["symbol"], list) for entry in chain[1:])
    assert any(entry.body["parent"] for entry in chain[1:])
    assert any(entry.body["batch"] == [1, 2] for entry in chain[1:])
    for card in cards(holdout):
        again = Certificate.load(card.save(tmp_path / f"card{card.entry.index}.json"))
        assert again == card
        again.verify()
        again.verify(chain)
        again.verify(chain[: card.entry.index + 1])
        holdout.verify(tmp_path / f"card{card.entry.index}.json")
        holdout.verify(again)
    holdout.verify()


def test_what_a_card_says(holdout: Holdout) -> None:
    card = cards(holdout)[0]
    said = card.to_json()
    assert said["holdout"] == "churn"
    assert said["theorem"] == "code length (Theorem C')"
    assert said["answer"]["source"] == "guess"
    assert said["answer"]["confidence"] == 0.95
    assert said["numbers"]["rows"] == 800
    assert said["head"] == card.entry.hash
    assert said["assumptions"] == [*ASSUMPTIONS, IN_MEMORY]
    assert "churn" in card._repr_html_()


def test_where_the_ledger_is_kept_and_what_is_promised(tmp_path: Path) -> None:
    naive = Holdout(X, Y, mechanism=Naive(), ledger=None).ask("x0 > 0").certificate
    assert naive.assumptions[0] == NO_PROMISE
    assert naive.theorem == "none"
    naive.verify()
    assert NO_PROMISE in json.loads(naive.save(tmp_path / "naive.json").read_text())["assumptions"]
    assert IN_MEMORY in naive.assumptions
    kept = Holdout(X, Y, ledger=tmp_path / "ledger.db", practice=0)
    assert IN_MEMORY not in kept.ask("x0 > 0", 0.5).certificate.assumptions
    kept.close()


@pytest.mark.parametrize("mechanism", [Naive(), Rounding(), SampleSplitting()])
def test_other_mechanisms_replay(mechanism: Any) -> None:
    holdout = busy(mechanism=mechanism, asks=10)
    chain = holdout._desk.store.read(holdout.id)
    for card in cards(holdout):
        card.verify()
        card.verify(chain)


# ---------------------------------------------------------------- tampering


def paths(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where each leaf of a JSON value is."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        if isinstance(value, dict | list) and value:
            yield from paths(value, (*path, key))
        else:
            yield (*path, key)


def changed(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return value * 1.001 + 1e-3
    if isinstance(value, str):
        return ("1" if value[:1] == "0" else "0") + value[1:]
    return 0 if value is None else None


def put(data: Any, path: tuple[Any, ...], value: Any) -> Any:
    data = copy.deepcopy(data)
    place = data
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return data


@pytest.mark.parametrize("index", [1, 2, 3, 6, 8, 10, 11, 13])
def test_every_changed_field_is_found(holdout: Holdout, index: int) -> None:
    card = cards(holdout)[index - 1].to_json()
    Certificate.from_json(card).verify()
    for path in paths(card):
        value = card
        for key in path:
            value = value[key]
        with pytest.raises(LedgerError):  # Tampered; or a mechanism nobody knows
            Certificate.from_json(put(card, path, changed(value))).verify()
        if isinstance(value, int) and not isinstance(value, bool):  # 1 and 1.0 are equal, and yet not the same card
            with pytest.raises(LedgerError):
                Certificate.from_json(put(card, path, float(value))).verify()


def test_missing_and_added_fields(holdout: Holdout) -> None:
    card = cards(holdout)[0].to_json()
    for name in card:
        with pytest.raises(Tampered):
            Certificate.from_json({key: value for key, value in card.items() if key != name})
    with pytest.raises(Tampered):
        Certificate.from_json(card | {"note": "trust me"})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "3",
        '{"format": 1}',
        "[" * 100_000,
        '{"a": NaN}',
        "\x00",
        '{"format": "unworn certificate 1"}',
    ],
)
def test_what_is_no_card(tmp_path: Path, text: str) -> None:
    (tmp_path / "card.json").write_text(text)
    with pytest.raises(Tampered):
        Certificate.load(tmp_path / "card.json")


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "card.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(Tampered):
        Certificate.load(tmp_path / "card.json")


def resign(chain: list[Entry], key: Key, edit: Callable[[int, dict[str, Any]], dict[str, Any]]) -> list[Entry]:
    """The same chain with bodies edited, hashed and signed anew by another key."""
    made: list[Entry] = []
    for entry in chain:
        body = edit(entry.index, copy.deepcopy(entry.body))
        if entry.index == 0:
            body["public"] = key.public
        made.append(Entry.seal(entry.holdout, entry.index, made[-1].hash if made else GENESIS, body, key))
    return made


def forged(index: int, edit: Callable[[dict[str, Any]], None]) -> Callable[[int, dict[str, Any]], dict[str, Any]]:
    def apply(at: int, body: dict[str, Any]) -> dict[str, Any]:
        if at == index:
            edit(body)
        return body

    return apply


LEVEL = 7  # where an offer, as a list, has its level


def narrow(body: dict[str, Any]) -> None:
    """Claim a level ten nats higher, with the interval that follows from it."""
    from unworn.mechanisms.contract.record import Record

    record = Record.from_body(body)
    offer = replace(record.offer, log_level=record.offer.log_level + 2.0)
    body["offer"] = offer.to_json()
    published = publish_symbol(GuessAndCheck(), offer, record.symbol)
    body["published"] = [published.value, published.low, published.high, published.source]


def test_a_forged_level_signed_by_a_new_key_is_found(holdout: Holdout, chain: list[Entry]) -> None:
    forgery = resign(chain, Key.new(), forged(3, narrow))
    card = Certificate.of(forgery[0], forgery[3])
    assert card.record.published.high < cards(holdout)[2].record.published.high
    card.verify()  # alone it is consistent with itself: its level follows from nothing on it
    with pytest.raises(Tampered, match="entry 3 was not priced"):
        card.verify(forgery)
    with pytest.raises(Tampered):
        card.verify(chain)
    with pytest.raises(Tampered):
        cards(holdout)[2].verify(forgery)
    # Only the entry forged, under the true terms: the signature is not the owner's.
    mixed = Certificate.of(chain[0], forgery[3])
    with pytest.raises(Tampered):
        mixed.verify()


@pytest.mark.parametrize(
    "edit",
    [
        lambda body: body.__setitem__("symbol", 3),
        lambda body: body["published"].__setitem__(1, 0.4),
        lambda body: body["offer"].__setitem__(1, 80_000),
        lambda body: body["batch"].__setitem__(0, 1),
        lambda body: body.__setitem__("batch", [5, 9]),
        lambda body: body.__setitem__("parent", 1),
        lambda body: body.__setitem__("parent", 99),
        lambda body: body["event"].__setitem__("nats", -3.0),
        lambda body: body["event"].__setitem__("event", "looked"),
        lambda body: body["event"].__setitem__("event", "burnt"),
        lambda body: body["offer"].__setitem__(LEVEL, "low"),
        lambda body: body["offer"].pop(3),
        lambda body: body["offer"].append(1),
        lambda body: body.__setitem__("symbol", 10**400),
        lambda body: body.__setitem__("symbol", "perhaps"),
        lambda body: body.__setitem__("symbol", {}),
        lambda body: body.__setitem__("guess", [0.5]),
        lambda body: body.__setitem__("guess", "half"),
        lambda body: body.clear(),
    ],
)
def test_a_forged_chain_does_not_replay(chain: list[Entry], edit: Callable[[dict[str, Any]], None]) -> None:
    forgery = resign(chain, Key.new(), forged(3, edit))
    with pytest.raises(LedgerError):
        replay(forgery)


def test_a_surprise_entered_as_agreement_does_not_replay(chain: list[Entry]) -> None:
    """The levels that follow are consistent with the event, but the event is not what the symbol costs."""
    from unworn.mechanisms.contract.record import Record
    from unworn.record.transcript import Transcript

    surprise = next(entry for entry in chain[1:] if entry.body["event"].get("surprise"))
    cheap = resign(
        chain[: surprise.index + 1],
        Key.new(),
        forged(surprise.index, lambda body: body["event"].update(surprise=False, nats=0.0)),
    )
    transcript = Transcript(cheap[0])
    for entry in cheap[1:]:
        transcript.extend(entry)
    assert transcript.state.surprises == Transcript(chain[0]).state.surprises
    assert Record.from_body(cheap[-1].body).symbol == surprise.body["symbol"]
    with pytest.raises(Tampered):
        replay(cheap)


def test_terms_forged_for_a_wider_promise(chain: list[Entry]) -> None:
    forgery = resign(chain, Key.new(), forged(0, lambda body: body.update(confidence=0.5)))
    with pytest.raises(Tampered, match="was not priced"):
        replay(forgery)
    forgery = resign(chain, Key.new(), forged(0, lambda body: body.update(size=10**6, rows=10**6)))
    with pytest.raises(Tampered, match="was not priced"):
        replay(forgery)


def test_a_cut_off_ledger_is_found_against_a_card(holdout: Holdout, chain: list[Entry]) -> None:
    last = cards(holdout)[-1]
    for length in range(1, len(chain)):
        with pytest.raises(Tampered, match="cut off or replaced"):
            last.verify(chain[:length])
    with pytest.raises(Tampered):
        last.verify(chain[:3] + chain[4:])
    with pytest.raises(Mismatch, match="an empty one"):
        last.verify([])


def test_another_holdouts_ledger_or_card(holdout: Holdout) -> None:
    other = Holdout(X[:700], Y[:700], name="other", ledger=None, practice=0)
    answer = other.ask("x0 > 0", 0.5)
    with pytest.raises(Mismatch, match="this card is of holdout 'other'"):
        holdout.verify(answer.certificate)
    with pytest.raises(Mismatch, match="the ledger is of 'other'"):
        cards(holdout)[0].verify(other._desk.store.read(other.id))
    assert holdout.meter.asked == len(cards(holdout))


def test_one_holdouts_entry_under_anothers_terms() -> None:
    """Two holdouts of one (careless) key: an entry must still not move between them."""
    key = Key.new()
    chains = []
    for rows in (X, X[:500]):
        store = MemoryStore()
        made = Holdout(rows, ledger=store)
        made.ask("x0 > 0", 0.5)
        chains.append(resign(store.read(made.id), key, lambda _, body: body))
    one, two = chains
    Certificate.of(one[0], one[1]).verify()
    with pytest.raises(Tampered):
        Certificate.of(one[0], two[1]).verify()
    moved = Entry.seal(one[0].holdout, 1, two[0].hash, one[1].body, key)
    with pytest.raises(Tampered, match="does not follow"):
        Certificate.of(one[0], moved).verify()


def test_an_entry_0_is_no_answer(chain: list[Entry]) -> None:
    with pytest.raises(Tampered):
        Certificate.of(chain[0], chain[0])
