"""Rows in Spark: types, names, settings, places, and what happens when rows change or go away."""

from __future__ import annotations

import os
import threading
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.rows.sql.conformance import WORDS
from tests.rows.sql.spark.spark_sessions import COMPILED, local_session
from unworn.errors import Mismatch, MissingExtra, Unaskable
from unworn.queries import col, mean, share
from unworn.rows.sql.engine_choice import is_stored
from unworn.rows.sql.spark import spark_engine as engine
from unworn.rows.sql.spark import spark_types, spark_work
from unworn.rows.sql.spark.spark_engine import Spark
from unworn.rows.sql.spark.spark_places import Layout
from unworn.rows.sql.sql_batch import statement

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def session():
    """Statements are not compiled here: that it makes no difference is what conformance shows."""
    with local_session(**COMPILED[False]) as started:
        yield started


@pytest.fixture
def spark(session):
    """The one session, with its settings as they were afterwards."""
    before = {}
    real = session.conf

    def setting(name: str, value: str) -> None:
        before.setdefault(name, real.get(name, None))
        real.set(name, value)

    session.setting = setting
    yield session
    for name, value in before.items():
        real.unset(name) if value is None else real.set(name, value)


@pytest.fixture(params=["true", "false"])
def strict(spark, request):
    """Whether Spark raises where a value does not fit, or goes on with NULL or what is left of it."""
    spark.setting("spark.sql.ansi.enabled", request.param)
    return spark


def asked(rows, *questions):
    return [float(total) for total in rows.sums(questions)]


def drawn(rows, name, places=None):
    column = rows.draw(np.arange(rows.rows) if places is None else np.array(places), [name]).column(name)
    found = column.values.tolist() if column.vocabulary is None else column.vocabulary[column.values].tolist()
    missing = [False] * len(found) if column.missing is None else column.missing.tolist()
    return [None if absent else value for value, absent in zip(found, missing, strict=True)]


def test_types_have_kinds_and_others_are_left_out(spark):
    frame = spark.sql(
        "select 1Y a, 1S b, 1 c, 1L d, 1F e, 1D f, 1.5 g, true h, 'x' i, date'2024-01-01' j, "
        "timestamp'2024-01-01' k, timestamp_ntz'2024-01-01' l, X'00' m, array(1) n, map(1, 2) o, struct(1) p, "
        "interval '1' day q, null r, parse_json('1') s, cast('x' as char(3)) t, cast('x' as varchar(3)) v"
    )
    rows = Spark(frame)
    numbers = dict.fromkeys("abcdefg", "number")
    assert dict(rows.kinds) == numbers | {"h": "bool", "i": "text"} | dict.fromkeys("jkl", "date") | dict.fromkeys(
        "tv", "text"
    )
    assert rows.left_out == tuple("mnopqrs")
    assert asked(rows, *(share(col(name) == 1) for name in "abcdef"), share(col("g") == 1.5)) == [1.0] * 7


def test_padded_and_bounded_texts_are_texts(spark, tmp_path):
    spark.sql(f"create table padded (w char(3), v varchar(3)) using parquet location '{tmp_path}/padded'")
    spark.sql("insert into padded values ('x', 'x')")
    spark.setting("spark.sql.preserveCharVarcharTypeInfo", "true")
    rows = Spark(spark.table("padded"))
    assert asked(rows, share(col("w") == "x  "), share(col("v") == "x")) == [1, 1]
    assert drawn(rows, "w") == ["x  "]
    spark.sql("drop table padded")


def test_a_date_is_an_instant_whatever_the_clock(strict, tmp_path):
    """Also at 02:30 in spring, which some clocks leave out."""
    moments = pa.array(["2024-03-10T02:30:00.123456", "1890-01-01T00:00:00", "0001-01-01T00:00:00"])
    micros = moments.cast(pa.timestamp("us"))
    table = pa.table({"n": micros, "z": micros.cast(pa.timestamp("us", "UTC")), "d": micros.cast(pa.date32())})
    pq.write_table(table, tmp_path / "t.parquet")
    frame = strict.read.parquet(str(tmp_path / "t.parquet"))
    assert [kind for _, kind in frame.dtypes] == ["timestamp_ntz", "timestamp", "date"]
    for zone in ("UTC", "America/New_York", "Asia/Kathmandu"):
        strict.setting("spark.sql.session.timeZone", zone)
        rows = Spark(frame)
        both = rows.draw(np.arange(3), ["n", "z"])
        assert both.column("n").values.tolist() == both.column("z").values.tolist() == micros.to_pylist()
        days = [share(col("d") == "2024-03-10"), share(col("d") < "1890-01-02")]
        moments = [share(col(name) == moment.isoformat()) for name in "nz" for moment in micros.to_pylist()]
        assert asked(rows, *days, *moments) == [1, 2, *[1] * 6]


def test_an_older_spark_reads_moments_the_long_way(strict, tmp_path, monkeypatch):
    micros = pa.array([0, -1, 1_710_037_800_123_456, -62_135_596_800_000_000, 253_402_300_799_999_999, None])
    pq.write_table(pa.table({"n": micros.cast(pa.timestamp("us"))}), tmp_path / "t.parquet")
    strict.setting("spark.sql.session.timeZone", "America/New_York")
    frame = strict.read.parquet(str(tmp_path / "t.parquet"))
    now = drawn(Spark(frame), "n")
    monkeypatch.setattr(spark_types, "_at_least", lambda version, *wanted: False)
    then = Spark(frame)
    assert "INTERVAL" in then._bare(["n"])[0]
    assert drawn(then, "n") == now


def test_days_that_do_not_fit_microseconds_are_missing(strict):
    frame = strict.sql("select date_add(date'2000-01-01', n) d from values (0), (2000000000), (-2000000000) t(n)")
    rows = Spark(frame)
    assert asked(rows, share(col("d").is_null()), share(col("d") == "2000-01-01")) == [2, 1]
    assert sum(each is None for each in drawn(rows, "d")) == 2


@pytest.mark.parametrize("collation", ["UTF8_LCASE", "UNICODE_CI", "UTF8_BINARY_RTRIM"])
def test_text_is_compared_byte_by_byte(spark, collation):
    rows = Spark(spark.sql(f"select collate(w, '{collation}') w from values ('a'), ('A'), ('a '), ('á') t(w)"))
    questions = [share(col("w") == "a"), share(col("w").isin(["A", "Á"])), share(col("w") == col("w").fill("x"))]
    assert asked(rows, *questions) == [1, 1, 4]
    assert asked(rows, share(col("w").fill("A") == "A"), share(col("w") != "á")) == [1, 3]
    assert sorted(drawn(rows, "w")) == ["A", "a", "a ", "á"]


def test_text_that_cannot_be_decoded_is_the_same_everywhere(strict):
    rows = Spark(strict.sql("select cast(b as string) w from values (X'FF61'), (X'61') t(b)"))
    assert drawn(rows, "w") == ["\ufffda", "a"]
    assert asked(rows, share(col("w") == "\ufffda"), share(col("w") == "a")) == [1, 1]
    told = rows.map(["w"], lambda place, batch: np.array([len(word) for word in batch.column("w").vocabulary]))
    assert sorted(np.concatenate(list(told)).tolist()) == [1, 2]


def test_decimals_are_the_nearest_numbers(strict):
    digits = ["0.1", "-12345678901234567890.12345678", "9" * 28 + ".99999999", "0.00000001", "9007199254740993"]
    values = ", ".join(f"(cast('{each}' as decimal(38, 8)))" for each in digits)
    rows = Spark(strict.sql(f"select d from values {values} t(d)"))
    nearest = [float(Decimal(each)) for each in digits]
    assert drawn(rows, "d") == nearest
    assert asked(rows, *(share(col("d") == each) for each in nearest)) == [1] * 5
    rng = np.random.default_rng(5)
    words = {
        (precision, scale): [
            f"{value * 10.0**-scale:.{scale}f}" for value in rng.integers(0, 10 ** min(precision, 18), 200).tolist()
        ]
        for precision, scale in ((38, 38), (18, 3), (18, 18), (17, 1), (9, 9), (1, 0))
    }
    table = pa.table({f"w{precision}_{scale}": each for (precision, scale), each in words.items()})
    casts = (f"cast(w{p}_{s} as decimal({p}, {s})) d{p}_{s}" for p, s in words)
    kept = Spark(strict.createDataFrame(table).selectExpr(*casts))
    everything = kept.draw(np.arange(200), list(kept.kinds))
    for (precision, scale), each in words.items():
        assert everything.column(f"d{precision}_{scale}").values.tolist() == [float(word) for word in each]


HOSTILE = [
    *(
        "a`b",
        "a.b",
        "${x}",
        "${env:PATH}",
        "A",
        "a",
        " ",
        "naïve",
        "*",
        "u0",
        "u1",
        "c0",
        "v0",
        "hash",
        "id",
        "none",
    ),
    *("count(1)", "part", "it's", '"', "a;b", "--", "\\", "\n", "x) FROM t; DROP TABLE t --`", "日本", "_metadata"),
]


def test_columns_may_have_any_names(spark):
    cells = pa.table({f"c{place}": [float(place), -1.0] for place in range(len(HOSTILE))})
    frame = spark.createDataFrame(cells).toDF(*HOSTILE)
    rows = Spark(frame)
    assert list(rows.kinds) == HOSTILE
    assert asked(rows, *(share(col(name) == place) for place, name in enumerate(HOSTILE))) == [1] * len(HOSTILE)
    both = rows.draw(np.arange(2), HOSTILE)
    assert [sorted(both.column(name).values) for name in HOSTILE] == [[-1, place] for place in range(len(HOSTILE))]
    assert len(rows.distinct(HOSTILE)) == len(HOSTILE)


SETTINGS = ["spark.sql.parser.escapedStringLiterals", "spark.sql.ansi.doubleQuotedIdentifiers"]
INJECTIONS = [
    *("' OR '1'='1", "\\' OR 1=1 --", "x') OR (1=1", "${spark.master}", "${env:HOME}", "'||'", "\\u0027", "%_", "\\%"),
    *("\\\\'", "`u1`", "X'61'", "\u2028", "'" * 50, "${${x}}"),
]


@pytest.mark.parametrize("on", [True, False])
def test_constants_are_nothing_but_themselves(strict, on):
    for name in SETTINGS:
        strict.setting(name, str(on).lower())
    words = [*WORDS, *INJECTIONS]
    rows = Spark(strict.createDataFrame(pa.table({"w": words, "n": np.arange(len(words))})))
    questions = [share((col("w") == word) & (col("n") == place)) for place, word in enumerate(words)]
    assert asked(rows, *questions, share(col("w").isin(words)), share(col("w").fill("'") == "' OR '1'='1")) == [
        *([1] * len(words)),
        len(words),
        1,
    ]
    assert drawn(rows, "w") == words


def test_the_owners_settings_do_not_matter_and_stay(strict):
    harsh = {
        "spark.sql.caseSensitive": "true",
        "spark.sql.ansi.enforceReservedKeywords": "true",
        "spark.sql.variable.substitute": "false",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "3",
        "spark.sql.execution.arrow.useLargeVarTypes": "true",
        "spark.sql.autoBroadcastJoinThreshold": "-1",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.decimalOperations.allowPrecisionLoss": "false",
        "spark.sql.execution.pandas.convertToArrowArraySafely": "true",
        "spark.sql.optimizer.excludedRules": "org.apache.spark.sql.catalyst.optimizer.CollapseProject",
        "spark.sql.timestampType": "TIMESTAMP_NTZ",
    }
    for name, value in harsh.items():
        strict.setting(name, value)
    before = {row[0]: row[1] for row in strict.sql("set").collect()}
    rows = Spark(strict.range(100).selectExpr("id / 3 x", "cast(id as string) w"))
    assert asked(rows, share(col("x") > 3), mean(col("x").fill(0), range=(0, 10))) == [90, pytest.approx(845.0)]
    assert drawn(rows, "w", [0, 50, 50, 99]) == ["0", "50", "50", "99"]
    assert sum(np.concatenate(list(rows.map(["w"], lambda _, batch: np.array([batch.size]))))) == 100
    rows.close()
    assert {row[0]: row[1] for row in strict.sql("set").collect()} == before
    assert strict.catalog.listTables() == []
    assert strict.getTags() == set()
    assert strict.range(1).count() == 1


def test_numbers_that_overflow_are_missing_and_nothing_raises(strict):
    values = "(1e308D), (-1e308D), (cast('nan' as double)), (cast('inf' as double)), (null), (0D), (5e-324D)"
    rows = Spark(strict.sql(f"select x, cast(9223372036854775807 as bigint) big from values {values} t(x)"))
    x, big = col("x"), col("big")
    questions = [share((x * 10).is_null()), share((1 / x).is_null()), share((big + big) * big > 0), share(x / x == 1)]
    assert asked(rows, *questions) == [5, 5, 7, 3]
    for ends in ((-8e307, 8e307), (0.0, 1e-300), (-1.0, 1e-300)):
        (total,) = rows.sums([mean(x.fill(0), range=ends)])
        whole = [1e308, -1e308, 0, 0, 0, 0, 5e-324]
        assert float(total) == pytest.approx(sum(min(max(each, ends[0]), ends[1]) for each in whole), rel=1e-12)


def test_sums_of_means_are_exact_whatever_the_order_and_the_number_of_rows(strict):
    frame = strict.range(20_000).selectExpr("sin(id) * 1e5 x")
    question = mean(col("x").fill(0), range=(-1e5, 1e5))
    there, back = Spark(frame), Spark(frame.orderBy("x", ascending=False))
    (total,) = there.sums([question])
    assert back.sums([question, share(col("x") > 0)])[0] == total
    told = statement([question], there._columns.held, "spark", rows=2**33)  # so many that halves are not enough
    assert told.sums[0].startswith("SUM(CAST(")
    assert int(there._fetch(told.layers, told.sums)[0]) * told.units[0] == total


@pytest.mark.parametrize("compiled", [True, False])
def test_the_largest_questions_are_still_answered(strict, compiled):
    for name, value in COMPILED[compiled].items():
        strict.setting(name, value)
    rows = Spark(strict.range(20).selectExpr("cast(id as double) x"))
    total = deep = col("x")
    for _ in range(240):
        total = total + 1
    for _ in range(17):
        deep = (1 / deep).fill(2)
    many = col("x").isin(range(1000))
    assert asked(rows, share(total == 245), share(many), share(deep > 0), share(col("x") == total - 240)) == [
        1,
        20,
        20,
        20,
    ]


def test_many_questions_take_several_statements(spark, monkeypatch):
    rows = Spark(spark.range(1000).withColumnRenamed("id", "x"))
    summed: list[int] = []
    real = Spark._fetch

    def noted(self, layers, sums, used=()):
        summed.append(sum(text.upper().count("SUM(") + text.upper().count("COUNT") for text in sums))
        return real(self, layers, sums, used)

    monkeypatch.setattr(Spark, "_fetch", noted)
    many = [share(col("x") < place) for place in range(engine.AGGREGATES + 7)]
    assert asked(rows, *many) == [float(place) for place in range(len(many))]
    means = [mean(col("x").fill(0), range=(0, top)) for top in range(1, 16)]
    assert asked(rows, *means) == [float(sum(min(place, top) for place in range(1000))) for top in range(1, 16)]
    assert max(summed) <= engine.AGGREGATES
    assert len(summed) == 4
    assert rows.sums([]) == []


def test_a_question_about_constants_reads_nothing(spark):
    rows = Spark(spark.range(7))
    assert asked(rows, share((col("id") == col("id")) | (col("id") > 3))) == [7]
    assert rows.draw(np.arange(7), []).size == 7
    assert sum(int(told[0]) for told in rows.map([], lambda _, batch: np.array([batch.size]))) == 7


SHAPES = {
    "plain": lambda numbers: numbers,
    "one": lambda numbers: numbers.coalesce(1),
    "empties": lambda numbers: numbers.where("k = 3").repartition(12, "k"),
    "robin": lambda numbers: numbers.repartition(5),
    "sorted": lambda numbers: numbers.orderBy("k", "id"),
    "joined": lambda numbers: numbers.join(numbers.where("id < 7").selectExpr("id AS k"), "k"),
    "grouped": lambda numbers: numbers.groupBy("id").agg({"k": "sum"}).withColumnRenamed("sum(k)", "k"),
    "united": lambda numbers: numbers.union(numbers),
    "local": lambda numbers: numbers.sparkSession.createDataFrame(numbers.limit(50).toArrow()),
    "cached": lambda numbers: numbers.repartition(3).cache(),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_row_has_one_place(spark, shape):
    frame = SHAPES[shape](spark.range(1000).selectExpr("id", "id % 7 AS k"))
    rows = Spark(frame)
    everything = rows.draw(np.arange(rows.rows), ["id", "k"])
    ids = everything.column("id").values
    assert sorted(ids) == sorted(row[0] for row in frame.select("id").collect())
    assert (everything.column("k").values == ids % 7).all()
    some = np.array([0, 1, rows.rows // 2, rows.rows - 1])
    again = rows.draw(some, ["id", "k"])  # the same columns: some recipes sort rows by all that is read of them
    assert again.column("id").values.tolist() == ids[some].tolist()
    told = np.concatenate(list(rows.map(["id"], lambda place, batch: place + np.arange(batch.size))))
    assert sorted(told) == list(range(rows.rows))


def test_places_are_those_of_partitions():
    layout = Layout.of([(3, 2), (0, 4), (3, 1), (5, 0)])
    assert layout == Layout((4, 0, 0, 3))
    assert layout.rows == 7
    names = [0, 1, 2, 3, 3 << 33, (3 << 33) + 1, (3 << 33) + 2]
    assert layout.names(np.arange(7)).tolist() == names


def test_places_follow_partitions_that_are_cut_otherwise(spark, tmp_path):
    """As when machines come and go: the rows are the same, and so are draws and work on them."""
    for part in range(6):
        pq.write_table(pa.table({"x": np.arange(part * 50, part * 50 + 50)}), tmp_path / f"{part}.parquet")
    rows = Spark(spark.read.parquet(str(tmp_path)))
    before = rows.draw(np.arange(300), ["x"]).column("x").values
    spark.setting("spark.sql.files.maxPartitionBytes", "1k")
    rows._frame = spark.read.parquet(str(tmp_path)).toDF("u0")
    after = rows.draw(np.arange(300), ["x"]).column("x").values
    assert sorted(before) == sorted(after) == list(range(300))
    told = np.concatenate(list(rows.map(["x"], lambda place, batch: place + np.arange(batch.size))))
    assert sorted(told) == list(range(300))


def test_work_may_return_any_array_and_takes_large_batches(spark):
    rows = Spark(spark.range(300_000, numPartitions=2).selectExpr("id", "id % 3 = 0 AS b"))
    told = list(rows.map(["b", "id"], lambda place, batch: np.array([[place, batch.size]], dtype=np.uint64)))
    assert [each.shape for each in told] == [(1, 2)] * 4
    assert sorted(each[0].tolist() for each in told) == [
        [0, 140_000],
        [140_000, 10_000],
        [150_000, 140_000],
        [290_000, 10_000],
    ]
    for array in (np.zeros((0, 3)), np.float32(3), np.array(["é", "b"]), np.array([True])):
        (found, *_) = rows.map(["b"], lambda place, batch, array=array: array)
        assert found.dtype == array.dtype
        assert found.shape == array.shape


def test_batches_are_gathered_as_far_as_arrow_holds_their_text(monkeypatch):
    monkeypatch.setattr(spark_work, "_LARGE", 100)
    pieces = [pa.record_batch({"w": ["x" * size]}) for size in (40, 40, 90, 300, 0, 10)]
    found = list(spark_work._gathered(iter(pieces)))
    assert [table.num_rows for table in found] == [2, 1, 1, 2]
    assert [len(word) for table in found for word in table["w"].to_pylist()] == [40, 40, 90, 300, 0, 10]
    assert list(spark_work._gathered(iter([pieces[0].slice(1)]))) == []


def test_objects_do_not_come_back(spark):
    rows = Spark(spark.range(3))
    with pytest.raises(Mismatch, match="failed at this question on these rows"):  # which the desk enters
        list(rows.map(["id"], lambda place, batch: np.array([object()])))


def change(spark, path, how):
    table = pq.read_table(path / "a.parquet")
    x, w = table["x"].to_numpy().copy(), table["w"].to_pylist()
    if how == "updated":
        x[3] += 1
    elif how == "exchanged":
        x[3], x[4] = x[4], -x[3]
    elif how == "recased":
        w[3] = w[3].upper()
    (path / "a.parquet").unlink()
    if how != "gone":
        keep = slice(0, -1) if how == "deleted" else slice(None)
        pq.write_table(pa.table({"x": x[keep], "w": w[keep]}), path / "a.parquet")
    spark.catalog.refreshByPath(str(path))


@pytest.mark.parametrize("how", ["deleted", "updated", "exchanged", "recased", "gone"])
def test_rows_that_change_are_told_and_not_read(spark, tmp_path, how):
    path = tmp_path / "rows"
    path.mkdir()
    pq.write_table(pa.table({"x": np.arange(1000.0), "w": [f"w{place}" for place in range(1000)]}), path / "a.parquet")
    rows = Spark(spark.read.parquet(str(path)).selectExpr("x", "collate(w, 'UTF8_LCASE') w"))
    name = "w" if how == "recased" else "x"
    rows.draw(np.arange(3), [name])
    change(spark, path, how)
    for read in (
        lambda: rows.sums([share(~col(name).is_null())]),
        lambda: list(rows.map([name], lambda place, batch: np.array([place]))),
        lambda: rows.draw(np.arange(3), [name]),
        lambda: rows.distinct([name]),
    ):
        with pytest.raises(Mismatch, match="Nothing was charged"):
            read()


def test_columns_that_change_places_are_found(spark, tmp_path):
    """Each has the sum that the other had, and together they have the same."""
    path, up = str(tmp_path / "t.parquet"), np.arange(100.0)
    pq.write_table(pa.table({"x": up, "y": -up}), path)
    rows = Spark(spark.read.parquet(path))
    pq.write_table(pa.table({"x": -up, "y": up}), path)
    with pytest.raises(Mismatch, match="no longer the 100 rows"):
        rows.sums([share(col("x") >= col("y"))])


def test_a_recipe_that_gives_other_rows_each_time_is_found(spark):
    from pyspark.sql import functions

    again = functions.udf(lambda: int.from_bytes(os.urandom(4), "big"), "bigint").asNondeterministic()
    rows = Spark(spark.range(100).select(again().alias("x"), "id"))
    for read in (
        lambda: rows.sums([share(col("x") > 0)]),
        lambda: list(rows.map(["x"], lambda place, batch: np.array([place]))),
        lambda: rows.draw(np.arange(3), ["x"]),
    ):
        with pytest.raises(Mismatch, match="differently each time"):
            read()
    assert asked(rows, share(col("id") > 49)) == [50]


def test_no_error_of_spark_gets_out(spark, tmp_path):
    path = str(tmp_path / "t.parquet")
    pq.write_table(pa.table({"w": ["1"]}), path)
    rows = Spark(spark.read.parquet(path).selectExpr("cast(w as int) w"))
    pq.write_table(pa.table({"w": ["secret"]}), path)
    for read in (
        lambda: rows.sums([share(col("w") == 1)]),
        lambda: rows.draw(np.arange(1), ["w"]),
        lambda: list(rows.map(["w"], lambda place, batch: batch.column("w").values)),
    ):
        with pytest.raises(Mismatch, match="could not read") as caught:
            read()
        assert "secret" not in f"{caught.value!r} {caught.value.numbers}"
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None


def test_no_error_of_work_gets_out(spark):
    rows = Spark(spark.sql("select 'secret' w"))
    with pytest.raises(Mismatch, match="failed at this question") as caught:
        list(rows.map(["w"], lambda place, batch: int(batch.column("w").vocabulary[0])))
    assert "secret" not in f"{caught.value!r} {caught.value.numbers}"
    assert caught.value.__context__ is None


def test_workers_without_the_package_are_told_of(spark):
    def absent(place, batch):
        import unworn.nowhere  # noqa: F401

    with pytest.raises(Mismatch, match="workers do not have unworn"):
        list(Spark(spark.range(3)).map(["id"], absent))


def test_what_is_no_end_of_rows_or_has_a_name_twice_is_refused(spark):
    with pytest.raises(Unaskable, match="stream"):
        Spark(spark.readStream.format("rate").load())
    with pytest.raises(Unaskable, match="twice: a"):
        Spark(spark.sql("select 1 a, 2 a, 3 b"))
    assert Spark(spark.sql("select 1 a, 2 A")).kinds == {"a": "number", "A": "number"}


def test_a_missing_piece_is_named(spark, monkeypatch):
    rows = Spark(spark.range(3))
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    for read in (
        lambda: rows.draw(np.arange(2), ["id"]),
        lambda: list(rows.map(["id"], lambda place, batch: np.zeros(1))),
    ):
        with pytest.raises(MissingExtra, match=r"unworn\[spark\]"):
            read()


def test_a_frame_of_spark_is_known_by_its_type_alone(spark):
    class DataFrame:
        pass

    assert is_stored(spark.range(1))
    assert not is_stored(DataFrame())
    assert not is_stored("spark")


def test_nothing_and_no_column_with_a_kind(spark):
    empty = Spark(spark.range(0))
    assert (empty.rows, asked(empty, share(col("id") > 3))) == (0, [0])
    assert list(empty.map(["id"], lambda place, batch: np.zeros(1))) == []
    bare = Spark(spark.sql("select array(1) a"))
    assert (bare.rows, dict(bare.kinds), bare.left_out) == (1, {}, ("a",))


def test_hundreds_of_columns_are_opened_a_few_at_a_time(spark):
    rows = Spark(spark.range(10).selectExpr(*(f"id + {place} AS c{place}" for place in range(95))))
    assert len(rows._sums) == 95
    assert asked(rows, *(share(col(f"c{place}") == place) for place in range(95))) == [1] * 95


def test_distinct_values_are_counted_roughly(spark):
    rows = Spark(spark.range(20_000).selectExpr("id", "id % 10 AS k", "cast(id as string) w"))
    many, few, words = rows.distinct(["id", "k", "w"])
    assert few == 10
    assert abs(many - 20_000) < 4_000
    assert abs(words - 20_000) < 4_000
    assert rows.distinct([]) == []


def test_threads_ask_at_the_same_time(spark):
    rows = Spark(spark.range(500).withColumnRenamed("id", "x"))
    told: dict[int, list[float]] = {}

    def ask(place: int) -> None:
        told[place] = [*asked(rows, share(col("x") < place)), float(rows.draw(np.array([place]), ["x"]).size)]

    threads = [threading.Thread(target=ask, args=(place,)) for place in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told == {place: [place, 1] for place in range(1, 5)}


def test_a_forked_process_is_told_to_open_its_own(spark):
    rows = Spark(spark.range(3))
    rows._pid -= 1
    with pytest.raises(Mismatch, match="forked"):
        rows.sums([share(col("id") > 1)])
