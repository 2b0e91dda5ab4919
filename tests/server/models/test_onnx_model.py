"""Models as ONNX: run like any model, within limits, and never more than a model."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from tests.server.routes.test_holdout_routes import asked, read_answer
from tests.server.served_site import Site
from unworn.errors import Unaskable
from unworn.queries.schema import ColumnType, Schema
from unworn.server.models.onnx_model import ModelLimits, OnnxModel, as_predictions

ONNX = "application/onnx"
SCORES = "/api/holdouts/people/scores?metric=accuracy"
LIMITS = ModelLimits(4 * 2**30, 5.0)
SCHEMA = Schema({"age": ColumnType("number"), "x": ColumnType("number"), "y": ColumnType("number")}, "y")


def make_model(
    nodes: list[Any],
    *,
    inputs: list[Any] | None = None,
    initializers: list[Any] | None = None,
    output: Any = None,
    opsets: list[Any] | None = None,
) -> bytes:
    given = inputs or [helper.make_tensor_value_info("X", TensorProto.FLOAT, [None, 2])]
    told = output or helper.make_tensor_value_info("Y", TensorProto.INT64, [None, 1])
    graph = helper.make_graph(nodes, "g", given, [told], initializers or [])
    made = helper.make_model(graph, opset_imports=opsets or [helper.make_opsetid("", 17)])
    made.ir_version = 8
    return bytes(made.SerializeToString())


def constant(name: str, array: Any) -> Any:
    return onnx.numpy_helper.from_array(np.asarray(array), name)


def old_people() -> bytes:
    """1 for whoever is older than 50."""
    return make_model(
        [
            helper.make_node("Gather", ["X", "place"], ["age"], axis=1),
            helper.make_node("Greater", ["age", "limit"], ["is_old"]),
            helper.make_node("Cast", ["is_old"], ["Y"], to=TensorProto.INT64),
        ],
        initializers=[constant("place", np.array([0])), constant("limit", np.array([50.0], np.float32))],
    )


def test_a_model_predicts_what_it_should() -> None:
    rng = np.random.default_rng(1)
    rows = {"age": rng.integers(18, 90, 50), "x": rng.normal(size=50)}
    model = OnnxModel(old_people(), SCHEMA, LIMITS)
    assert model.predict(rows).tolist() == (rows["age"] > 50).astype(int).tolist()
    assert as_predictions(model).name == f"onnx {model.digest}"


def test_a_model_by_the_names_of_columns() -> None:
    inputs = [helper.make_tensor_value_info("age", TensorProto.INT64, [None, 1])]
    data = make_model(
        [helper.make_node("Identity", ["age"], ["Y"])],
        inputs=inputs,
        output=helper.make_tensor_value_info("Y", TensorProto.INT64, [None, 1]),
    )
    model = OnnxModel(data, SCHEMA, LIMITS)
    assert model.predict({"age": [30, 40], "x": [0.0, 1.0]}).tolist() == [30, 40]


def test_a_model_is_scored_like_any_other(site: Site) -> None:
    before = asked(site)
    reply = site.send("ana", SCORES, old_people(), ONNX)
    answer = read_answer(reply.json())
    assert 0 <= answer.low < answer.high <= 1
    assert answer.certificate.record.offer.runs_code
    again = site.send("ana", SCORES, old_people(), ONNX)
    assert again.json()["entries"][0]["index"] == answer.index
    assert asked(site) == before + 1


def external() -> bytes:
    tensor = constant("limit", np.array([50.0], np.float32))
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="/etc/passwd")
    return make_model(
        [
            helper.make_node("Greater", ["X", "limit"], ["b"]),
            helper.make_node("Cast", ["b"], ["Y"], to=TensorProto.INT64),
        ],
        initializers=[tensor],
    )


def foreign_domain() -> bytes:
    node = helper.make_node("ReadFile", ["X"], ["Y"], domain="com.microsoft")
    return make_model([node], opsets=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)])


def conditional() -> bytes:
    then = helper.make_graph([], "t", [], [helper.make_tensor_value_info("X", TensorProto.FLOAT, [None, 2])])
    return make_model([helper.make_node("If", ["c"], ["Y"], then_branch=then, else_branch=then)])


def random_words() -> bytes:
    return make_model([helper.make_node("RandomUniform", [], ["Y"], shape=[10])])


def too_many_features() -> bytes:
    inputs = [helper.make_tensor_value_info("X", TensorProto.FLOAT, [None, 7])]
    return make_model([helper.make_node("Cast", ["X"], ["Y"], to=TensorProto.INT64)], inputs=inputs)


def unknown_input() -> bytes:
    inputs = [helper.make_tensor_value_info("salary", TensorProto.FLOAT, [None, 1])] * 1
    return make_model([helper.make_node("Cast", ["salary"], ["Y"], to=TensorProto.INT64)], inputs=inputs)


def a_pickle() -> bytes:
    import pickle

    return pickle.dumps({"model": [1, 2, 3]})


def label_as_input() -> bytes:
    inputs = [
        helper.make_tensor_value_info("age", TensorProto.FLOAT, [None, 1]),
        helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, 1]),
    ]
    return make_model([helper.make_node("Cast", ["y"], ["Y"], to=TensorProto.INT64)], inputs=inputs)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (external, "another file"),
        (foreign_domain, "domain"),
        (conditional, "operator If"),
        (random_words, "operator RandomUniform"),
        (too_many_features, "7 features"),
        (unknown_input, "1 features"),
        (label_as_input, "input 'y'"),
        (a_pickle, "cannot be read as ONNX"),
        (lambda: b"\x00" * 1000, "not taken"),
        (lambda: old_people()[:-20], "not taken"),
    ],
)
def test_what_is_not_taken_costs_nothing(make: Any, words: str) -> None:
    data = make()
    with pytest.raises(Unaskable, match=words):
        OnnxModel(data, SCHEMA, LIMITS)


def test_a_model_is_run_as_it_was_checked() -> None:
    """Bytes that the runtime would take for its own format: it would run a model in them that nobody has looked at."""
    unknown = b"\xc2\x3e" + bytes([44]) + b"\0" + b"ORTM" + bytes(39)  # a field that no model has, passed over
    data = unknown + old_people()
    assert data[4:8] == b"ORTM"
    model = OnnxModel(data, SCHEMA, LIMITS)
    assert model.predict({"age": [30, 60], "x": [0.0, 0.0]}).tolist() == [0, 1]


def test_a_huge_constant_ends_its_process_and_nothing_else(site: Site) -> None:
    """A few bytes that want 400 GB: refused or a failed answer, within limits, and the server goes on."""
    shape = constant("shape", np.array([100_000, 1_000_000], np.int64))
    data = make_model(
        [
            helper.make_node("ConstantOfShape", ["shape"], ["huge"]),
            helper.make_node("ReduceSum", ["huge"], ["sum"], keepdims=0),
            helper.make_node("Add", ["X", "sum"], ["added"]),
            helper.make_node("Cast", ["added"], ["Y"], to=TensorProto.INT64),
        ],
        initializers=[shape],
    )
    began = time.perf_counter()
    reply = site.send("ana", SCORES, data, ONNX)
    assert reply.status_code in (409, 413, 422), reply.text
    assert time.perf_counter() - began < 60
    assert site.get("ana", "/api/holdouts/people").status_code == 200


def test_what_fails_on_sealed_rows_is_a_word(site: Site) -> None:
    """Fine on few rows, wrong on all: the answer says that it failed, and nothing of the runtime's message."""
    data = make_model(
        [
            helper.make_node("Reshape", ["X", "shape"], ["few"]),
            helper.make_node("Cast", ["few"], ["Y"], to=TensorProto.INT64),
        ],
        initializers=[constant("shape", np.array([5, 2], np.int64))],
        output=helper.make_tensor_value_info("Y", TensorProto.INT64, [None, 2]),
    )
    reply = site.send("ana", SCORES, data, ONNX)
    assert reply.status_code in (409, 422)
    assert "Reshape" not in reply.text
    assert "shape" not in reply.text or "of shape" in reply.text


def test_answers_about_models_leave_on_a_grid_of_time(site: Site) -> None:
    site.send("ana", SCORES, old_people(), ONNX)
    waits = []
    for _ in range(2):
        began = time.perf_counter()
        site.send("ana", SCORES, old_people(), ONNX)
        waits.append(time.perf_counter() - began)
    grid = site.services.settings.model_grid
    assert sum(wait % grid < 0.3 * grid for wait in waits) >= 1, waits  # one may meet a busy moment


def test_a_model_over_the_limit_is_not_read(site: Site) -> None:
    reply = site.send("ana", SCORES, b"\0" * (site.services.settings.max_upload + 1), ONNX)
    assert reply.status_code == 413
