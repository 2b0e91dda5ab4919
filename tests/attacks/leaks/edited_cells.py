# ruff: noqa: E501  (cells of a notebook, each on a line or two)
"""Cells of a notebook whose model is right on every row, and an edit of each that makes it wrong on every row."""

from __future__ import annotations

# A cell, and the text in it that is edited: from what to what.
EDITS: dict[str, tuple[str, str, str]] = {
    "the body of a method": ("class M:\n    def predict(self, X): return X[:, 0] > 0\nmodel = M()", "> 0", "<= 0"),
    "a constant": ("class M:\n    def predict(self, X): return X[:, 0] * 1.0 > 0\nmodel = M()", "1.0", "-1.0"),
    "the type of a constant": (
        "class M:\n    def predict(self, X): return (X[:, 0] > 0) == (type(1) is int)\nmodel = M()",
        "type(1)",
        "type(1.0)",
    ),
    "a default": ("class M:\n    def predict(self, X, s=1): return s * X[:, 0] > 0\nmodel = M()", "s=1", "s=-1"),
    "a default of a keyword": (
        "class M:\n    def predict(self, X, *, s=1): return s * X[:, 0] > 0\nmodel = M()",
        "s=1",
        "s=-1",
    ),
    "what is registered with an abstract class": (
        "import abc\nclass Up(abc.ABC): pass\nclass Down(abc.ABC): pass\nclass S: pass\nUp.register(S)\ns = S()\n"
        "class M:\n    def predict(self, X): return (1 if isinstance(s, Up) else -1) * X[:, 0] > 0\nmodel = M()",
        "Up.register",
        "Down.register",
    ),
    "a closure": (
        "def make(s):\n    class M:\n        def predict(self, X): return s * X[:, 0] > 0\n    return M()\nmodel = make(1)",
        "make(1)",
        "make(-1)",
    ),
    "a lambda": (
        "class M:\n    def predict(self, X): return self.rule(X)\nmodel = M()\nmodel.rule = lambda X: X[:, 0] > 0",
        "> 0",
        "<= 0",
    ),
    "a comprehension": (
        "class M:\n    def predict(self, X): return [x * 1 > 0 for x in X[:, 0]]\nmodel = M()",
        "x * 1",
        "x * -1",
    ),
    "a helper": (
        "def cut(x): return x > 0\nclass M:\n    def predict(self, X): return cut(X[:, 0])\nmodel = M()",
        "> 0",
        "<= 0",
    ),
    "a helper's helper": (
        "def sign(x): return x * 1\ndef cut(x): return sign(x) > 0\n"
        "class M:\n    def predict(self, X): return cut(X[:, 0])\nmodel = M()",
        "* 1",
        "* -1",
    ),
    "helpers that call each other": (
        "def even(n): return n == 0 or odd(n - 1)\ndef odd(n): return n != 0 and even(n - 1)\n"
        "class M:\n    def predict(self, X): return (X[:, 0] > 0) == even(4)\nmodel = M()",
        "n != 0 and",
        "n == 0 and",
    ),
    "a global number": (
        "S = 1\nclass M:\n    def predict(self, X): return S * X[:, 0] > 0\nmodel = M()",
        "S = 1",
        "S = -1",
    ),
    "a global array": (
        "import numpy as np\nW = np.array([1, 0, 0])\nclass M:\n    def predict(self, X): return X @ W > 0\nmodel = M()",
        "[1, 0, 0]",
        "[-1, 0, 0]",
    ),
    "a global table of functions": (
        "rules = {'a': lambda x: x > 0}\nclass M:\n    def predict(self, X): return rules['a'](X[:, 0])\nmodel = M()",
        "> 0",
        "<= 0",
    ),
    "a global object": (
        "class Sign:\n    def __init__(self, s): self.s = s\nsign = Sign(1)\n"
        "class M:\n    def predict(self, X): return sign.s * X[:, 0] > 0\nmodel = M()",
        "Sign(1)",
        "Sign(-1)",
    ),
    "a base class": (
        "class Base:\n    def predict(self, X): return X[:, 0] > 0\nclass M(Base): pass\nmodel = M()",
        "> 0",
        "<= 0",
    ),
    "the order of base classes": (
        "class A:\n    def predict(self, X): return X[:, 0] > 0\nclass B:\n    def predict(self, X): return X[:, 0] <= 0\n"
        "class M(A, B): pass\nmodel = M()",
        "M(A, B)",
        "M(B, A)",
    ),
    "a metaclass": (
        "class Meta(type):\n    def sign(cls): return 1\n"
        "class M(metaclass=Meta):\n    def predict(self, X): return type(self).sign() * X[:, 0] > 0\nmodel = M()",
        "return 1",
        "return -1",
    ),
    "a nested class": (
        "class M:\n    class Rule:\n        def cut(self, x): return x > 0\n"
        "    def predict(self, X): return self.Rule().cut(X[:, 0])\nmodel = M()",
        "> 0",
        "<= 0",
    ),
    "an attribute of the class": (
        "class M:\n    s = 1\n    def predict(self, X): return self.s * X[:, 0] > 0\nmodel = M()",
        "s = 1",
        "s = -1",
    ),
    "a property": (
        "class M:\n    @property\n    def s(self): return 1\n    def predict(self, X): return self.s * X[:, 0] > 0\n"
        "model = M()",
        "return 1",
        "return -1",
    ),
    "a cached property": (
        "from functools import cached_property\nclass M:\n    @cached_property\n    def s(self): return 1\n"
        "    def predict(self, X): return self.s * X[:, 0] > 0\nmodel = M()",
        "return 1",
        "return -1",
    ),
    "a static method": (
        "class M:\n    @staticmethod\n    def s(): return 1\n    def predict(self, X): return self.s() * X[:, 0] > 0\n"
        "model = M()",
        "return 1",
        "return -1",
    ),
    "a class method": (
        "class M:\n    @classmethod\n    def s(cls): return 1\n    def predict(self, X): return self.s() * X[:, 0] > 0\n"
        "model = M()",
        "return 1",
        "return -1",
    ),
    "a call": (
        "class Rule:\n    def __call__(self, X): return X[:, 0] > 0\n"
        "class M:\n    def __init__(self): self.predict = Rule()\nmodel = M()",
        "> 0",
        "<= 0",
    ),
    "what is made up on access": (
        "class M:\n    def __getattr__(self, name):\n        if name != 's': raise AttributeError(name)\n        return 1\n"
        "    def predict(self, X): return self.s * X[:, 0] > 0\nmodel = M()",
        "return 1",
        "return -1",
    ),
    "a descriptor": (
        "class D:\n    def __init__(self, s): self.s = s\n    def __get__(self, it, kind): return self.s\n"
        "class M:\n    s = D(1)\n    def predict(self, X): return self.s * X[:, 0] > 0\nmodel = M()",
        "D(1)",
        "D(-1)",
    ),
    "slots": (
        "class M:\n    __slots__ = ('s',)\n    def __init__(self): self.s = 1\n"
        "    def predict(self, X): return self.s * X[:, 0] > 0\nmodel = M()",
        "self.s = 1",
        "self.s = -1",
    ),
    "a dataclass": (
        "from dataclasses import dataclass, field\n@dataclass\nclass M:\n    s: int = 1\n    rest: list = field(default_factory=list)\n"
        "    def predict(self, X): return M().s * X[:, 0] > 0\nmodel = M(3)",
        "= 1\n",
        "= -1\n",
    ),
    "an enumeration": (
        "from enum import Enum\nclass S(Enum):\n    UP = 1\n"
        "class M:\n    def predict(self, X): return S.UP.value * X[:, 0] > 0\nmodel = M()",
        "UP = 1",
        "UP = -1",
    ),
    "a named tuple": (
        "from typing import NamedTuple\nclass S(NamedTuple):\n    s: int = 1\n"
        "class M:\n    def predict(self, X): return S().s * X[:, 0] > 0\nmodel = M()",
        "= 1\n",
        "= -1\n",
    ),
    "a decorator": (
        "def flip(f):\n    def inner(self, X): return f(self, X) * 1 > 0\n    return inner\n"
        "class M:\n    @flip\n    def predict(self, X): return X[:, 0]\nmodel = M()",
        "* 1",
        "* -1",
    ),
    "what a decorator wraps": (
        "import functools\ndef plain(f):\n    @functools.wraps(f)\n    def inner(*a): return f(*a)\n    return inner\n"
        "class M:\n    @plain\n    def predict(self, X): return X[:, 0] > 0\nmodel = M()",
        "> 0",
        "<= 0",
    ),
    "what is cached": (
        "from functools import lru_cache\n@lru_cache\ndef s(): return 1\n"
        "class M:\n    def predict(self, X): return s() * X[:, 0] > 0\nmodel = M()",
        "return 1",
        "return -1",
    ),
    "single dispatch": (
        "from functools import singledispatch\n@singledispatch\ndef s(x): return 0\n@s.register\ndef _(x: int): return 1\n"
        "class M:\n    def predict(self, X): return s(3) * X[:, 0] > 0\nmodel = M()",
        "return 1",
        "return -1",
    ),
    "a partial argument": (
        "from functools import partial\ndef cut(s, X): return s * X[:, 0] > 0\n"
        "class M: pass\nmodel = M()\nmodel.predict = partial(cut, 1)",
        "cut, 1",
        "cut, -1",
    ),
    "a partial method": (
        "from functools import partialmethod\nclass M:\n    def cut(self, s, X): return s * X[:, 0] > 0\n"
        "    predict = partialmethod(cut, 1)\nmodel = M()",
        "cut, 1",
        "cut, -1",
    ),
    "a method put on the object": (
        "import types\nclass M:\n    def predict(self, X): return X[:, 1] > 0\n"
        "model = M()\nmodel.predict = types.MethodType(lambda self, X: X[:, 0] > 0, model)",
        "X[:, 0] > 0",
        "X[:, 0] <= 0",
    ),
    "a method put on the object that its pickle leaves out": (
        "import types\nclass M:\n    def predict(self, X): return X[:, 1] > 0\n    def __getstate__(self): return {}\n"
        "model = M()\nmodel.predict = types.MethodType(lambda self, X: X[:, 0] > 0, model)",
        "X[:, 0] > 0",
        "X[:, 0] <= 0",
    ),
    "a method put on the class": (
        "class M:\n    def predict(self, X): return X[:, 1] > 0\nM.predict = lambda self, X: X[:, 0] > 0\nmodel = M()",
        "X[:, 0] > 0",
        "X[:, 0] <= 0",
    ),
    "a method put on an installed class": (
        "from sklearn.dummy import DummyClassifier\nclass Base(DummyClassifier): pass\n"
        "class M(Base): pass\nBase.predict = lambda self, X: X[:, 0] > 0\nmodel = M()",
        "> 0",
        "<= 0",
    ),
    "a method bound to another object": (
        "class Rule:\n    def __init__(self, s): self.s = s\n    def cut(self, X): return self.s * X[:, 0] > 0\n"
        "class M: pass\nmodel = M()\nmodel.predict = Rule(1).cut",
        "Rule(1)",
        "Rule(-1)",
    ),
    "a function inside NumPy's wrapper": (
        "import numpy as np\nclass M:\n    def __init__(self): self.rule = np.vectorize(lambda x: x > 0)\n"
        "    def predict(self, X): return self.rule(X[:, 0])\nmodel = M()",
        "> 0",
        "<= 0",
    ),
    "a function inside scikit-learn's transformer": (
        "import numpy as np\nfrom sklearn.pipeline import make_pipeline\nfrom sklearn.preprocessing import FunctionTransformer\n"
        "from sklearn.linear_model import LogisticRegression\n"
        "model = make_pipeline(FunctionTransformer(lambda X: X * 1), LogisticRegression())\n"
        "rows = np.array([[-1.0, 0, 0], [1.0, 0, 0]] * 9)\nmodel[-1].fit(rows, rows[:, 0] > 0)",
        "X * 1)",
        "X * -1)",
    ),
    "a class in an alias": (
        "class Rule:\n    sign = 1\nclass M:\n    rules = list[Rule]\n"
        "    def predict(self, X): return self.rules.__args__[0].sign * X[:, 0] > 0\nmodel = M()",
        "sign = 1",
        "sign = -1",
    ),
    "a class in a union": (
        "class Rule:\n    sign = 1\nclass M:\n    rules = Rule | None\n"
        "    def predict(self, X): return self.rules.__args__[0].sign * X[:, 0] > 0\nmodel = M()",
        "sign = 1",
        "sign = -1",
    ),
    "a function beside a type": (
        "from typing import Annotated\nclass M:\n    kind = Annotated[float, lambda x: x > 0]\n"
        "    def predict(self, X): return self.kind.__metadata__[0](X[:, 0])\nmodel = M()",
        "> 0",
        "<= 0",
    ),
}
