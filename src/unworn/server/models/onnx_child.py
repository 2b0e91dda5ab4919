"""Checks an ONNX model, or runs it on rows, within limits. Run by its path, with nothing of this package around it.

Standard input has the model's length (8 bytes), the model and, to run it, its inputs as NPZ. Standard output gets JSON
or NPZ. A refusal is a word for standard error, said of the model alone; on rows nothing is said but that it failed.
"""

import io
import json
import os
import resource
import sys
from typing import Any

DOMAINS = ("", "ai.onnx", "ai.onnx.ml")
TIMED = (
    *("Loop", "Scan", "If", "SequenceMap", "NonZero", "Compress", "Unique", "StringSplit", "RegexFullMatch"),
    *("RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Multinomial", "Bernoulli"),
)
"""Operators whose time depends on what rows contain, or that give another answer each time."""
TYPES = {1: "float32", 11: "float64", 6: "int32", 7: "int64", 8: "text", 9: "bool"}
MOST_NODES, MOST_INPUTS, MOST_OUTPUT = 100_000, 1_000, 2**28


class NotTaken(Exception):
    """Why a model is not taken."""


def limit(memory: int, seconds: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))


def check_graph(graph: Any, depth: int = 0) -> None:
    """Every node, attribute and tensor of a graph, and of the graphs in it."""
    import onnx

    if depth > 4 or len(graph.node) > MOST_NODES:
        raise NotTaken("it has too many operators, or graphs within graphs")
    for node in graph.node:
        if node.domain not in DOMAINS:
            raise NotTaken(f"the operator domain {node.domain[:40]!r} is neither ai.onnx nor ai.onnx.ml")
        if node.op_type in TIMED:
            raise NotTaken(
                f"the operator {node.op_type} is not taken: its time or its answer may differ from run to run"
            )
        for attribute in node.attribute:
            for inner in (attribute.g, *attribute.graphs):
                if inner.ByteSize():
                    check_graph(inner, depth + 1)
            for tensor in (attribute.t, *attribute.tensors):
                check_tensor(tensor, onnx)
            for sparse in (attribute.sparse_tensor, *attribute.sparse_tensors):
                check_tensor(sparse.values, onnx)
                check_tensor(sparse.indices, onnx)
    for tensor in graph.initializer:
        check_tensor(tensor, onnx)
    for sparse in graph.sparse_initializer:
        check_tensor(sparse.values, onnx)
        check_tensor(sparse.indices, onnx)


def check_tensor(tensor: Any, onnx: Any) -> None:
    if tensor.data_location == onnx.TensorProto.EXTERNAL or tensor.external_data:
        raise NotTaken("it keeps data in another file: send a model that is whole")


def check_model(data: bytes) -> dict[str, Any]:
    import onnx

    try:
        model = onnx.load_model_from_string(data)
    except Exception:
        raise NotTaken("it cannot be read as ONNX") from None
    for opset in model.opset_import:
        if opset.domain not in DOMAINS:
            raise NotTaken(f"the operator domain {opset.domain[:40]!r} is neither ai.onnx nor ai.onnx.ml")
    if len(model.functions) or len(model.training_info):
        raise NotTaken("functions and training steps of a model's own are not taken: export the plain graph")
    check_graph(model.graph)
    known = {each.name for each in model.graph.initializer}
    inputs = [each for each in model.graph.input if each.name not in known]
    if not 1 <= len(inputs) <= MOST_INPUTS:
        raise NotTaken(f"it has {len(inputs)} inputs")
    return {
        "inputs": [describe(each) for each in inputs],
        "outputs": [describe(each) for each in model.graph.output],
        "classes": find_classes(model.graph),
    }


def find_classes(graph: Any) -> list[Any] | None:
    """The classes whose scores a classifier gives, as its own operator lists them."""
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.name in ("classlabels_ints", "classlabels_int64s") and len(attribute.ints):
                return list(attribute.ints)
            if attribute.name == "classlabels_strings" and len(attribute.strings):
                return [text.decode("utf-8", "replace") for text in attribute.strings]
    return None


def describe(value: Any) -> dict[str, Any]:
    kind = value.type.WhichOneof("value")
    if kind != "tensor_type" or value.type.tensor_type.elem_type not in TYPES:
        raise NotTaken(
            f"{value.name[:60]!r} is not a tensor of numbers, truth values or text; with skl2onnx, say zipmap=False"
        )
    tensor = value.type.tensor_type
    sides = [each.dim_value if each.WhichOneof("value") == "dim_value" else None for each in tensor.shape.dim]
    return {"name": value.name, "type": TYPES[tensor.elem_type], "shape": sides}


def open_session(data: bytes) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.log_severity_level = 4
    options.add_session_config_entry("session.load_model_format", "ONNX")  # as it was checked, not as ORT's own
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.set_denormal_as_zero", "1")  # they take a hundred times as long
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def main(mode: str, memory: int, seconds: int) -> None:
    limit(memory, seconds)
    whole = sys.stdin.buffer.read()
    size = int.from_bytes(whole[:8], "little")
    data, rest = whole[8 : 8 + size], whole[8 + size :]
    told = check_model(data)
    session = open_session(data)
    out = os.fdopen(1, "wb")
    if mode == "check":
        out.write(json.dumps(told).encode())
        out.flush()
        return
    import numpy

    with numpy.load(io.BytesIO(rest), allow_pickle=False) as inputs:
        fed = {name: inputs[f"i{place}"] for place, name in enumerate(each["name"] for each in told["inputs"])}
    fed = {name: array.astype(object) if array.dtype.kind == "U" else array for name, array in fed.items()}
    found = session.run(None, fed)
    plain = [each.astype(str) if each.dtype.kind == "O" else each for each in map(numpy.asarray, found)]
    if sum(each.nbytes for each in plain) > MOST_OUTPUT:
        raise MemoryError
    packed: dict[str, Any] = {f"o{place}": each for place, each in enumerate(plain)}
    numpy.savez(out, **packed)
    out.flush()


if __name__ == "__main__":
    try:
        main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    except NotTaken as why:
        sys.stderr.write(str(why))
        sys.stderr.flush()
        os._exit(3)
    except BaseException:
        os._exit(4)
    os._exit(0)
