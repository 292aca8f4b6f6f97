/** Runs a sentence model in ONNX with the tokenizer of its vocabulary. Used in a worker thread. */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { cutWord, wordsOf } from '../builtin.ts';
import { normalise } from '../embedder.ts';
import type { LocalModel } from './models.ts';

/** The part of onnxruntime-node that is used. The package is installed only where this embedder is chosen. */
export interface Runtime {
  readonly InferenceSession: { create(path: string, options: object): Promise<Session> };
  readonly Tensor: new (type: 'int64', data: BigInt64Array, dims: readonly number[]) => object;
}

interface Session {
  readonly inputNames: readonly string[];
  run(feeds: Readonly<Record<string, object>>): Promise<Readonly<Record<string, Output>>>;
}

interface Output {
  readonly data: unknown;
  readonly dims: readonly number[];
}

export type Embed = (texts: readonly string[]) => Promise<readonly Float32Array[]>;

/** Models of the BERT family have this many positions. */
const mostTokens = 512;
/** Texts of similar length are embedded together, up to this many tokens. */
const tokensAtOnce = 1_024;
/** Padding may double the length of a text. */
const mostPadding = 2;

const tokenizerShape = z.object({
  added_tokens: z.array(z.object({ id: z.int(), content: z.string() })),
  model: z.object({
    type: z.literal('Unigram', { error: 'has no unigram vocabulary, as the multilingual models have' }),
    unk_id: z.int().nullish(),
    vocab: z.array(z.tuple([z.string(), z.number()])),
  }),
});

export async function openModel(model: LocalModel, runtime: Runtime, threads: number): Promise<Embed> {
  const encode = await readTokenizer(model.tokenizer);
  const session = await runtime.InferenceSession.create(model.network, {
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    graphOptimizationLevel: 'all',
  });
  return async (texts) => {
    const encoded = texts.map((text, place) => ({ ids: encode.ids(text), place }));
    const vectors: Float32Array[] = [];
    for (const batch of batchesOf(encoded.toSorted((left, right) => left.ids.length - right.ids.length))) {
      const found = await runBatch(
        session,
        runtime,
        batch.map(({ ids }) => ids),
        encode.padding,
      );
      for (const [index, { place }] of batch.entries()) vectors[place] = found[index] ?? new Float32Array();
    }
    return vectors;
  };
}

/** Splits texts in order of length, so that padding is short. */
function batchesOf<Text extends { readonly ids: readonly number[] }>(
  texts: readonly Text[],
): readonly (readonly Text[])[] {
  const batches: Text[][] = [];
  for (const text of texts) {
    const last = batches.at(-1);
    const fits = last !== undefined && (last.length + 1) * text.ids.length <= tokensAtOnce;
    if (fits && text.ids.length <= mostPadding * (last[0]?.ids.length ?? 0)) last.push(text);
    else batches.push([text]);
  }
  return batches;
}

async function runBatch(
  session: Session,
  { Tensor }: Runtime,
  batch: readonly (readonly number[])[],
  padding: number,
): Promise<readonly Float32Array[]> {
  const length = Math.max(...batch.map((ids) => ids.length));
  const dims = [batch.length, length] as const;
  const fill = (valueAt: (ids: readonly number[], place: number) => number) =>
    BigInt64Array.from(batch.flatMap((ids) => Array.from({ length }, (_, place) => BigInt(valueAt(ids, place)))));
  const inputs: Readonly<Record<string, () => BigInt64Array>> = {
    input_ids: () => fill((ids, place) => ids[place] ?? padding),
    attention_mask: () => fill((ids, place) => (place < ids.length ? 1 : 0)),
    token_type_ids: () => fill(() => 0),
  };
  const feeds = Object.fromEntries(
    session.inputNames.map((name) => [name, new Tensor('int64', inputs[name]?.() ?? fill(() => 0), dims)]),
  );
  const outputs = await session.run(feeds);
  const output = outputs.last_hidden_state ?? outputs.sentence_embedding ?? Object.values(outputs)[0];
  if (output === undefined || !(output.data instanceof Float32Array))
    throw new Error('The model has no output of numbers');
  const { data } = output;
  const width = output.dims.at(-1) ?? 0;
  if (output.dims.length === 2) return batch.map((_, row) => normalise(data.slice(row * width, (row + 1) * width)));
  return batch.map((ids, row) => normalise(meanOf(data.subarray(row * length * width), ids.length, width)));
}

/** Returns the mean of the first `count` rows. */
function meanOf(rows: Float32Array, count: number, width: number): Float32Array {
  const mean = new Float32Array(width);
  for (let row = 0; row < count; row += 1)
    for (let column = 0; column < width; column += 1)
      mean[column] = (mean[column] ?? 0) + (rows[row * width + column] ?? 0) / count;
  return mean;
}

async function readTokenizer(path: string) {
  const parsed = tokenizerShape.safeParse(JSON.parse(await readFile(path, 'utf8')));
  if (!parsed.success) throw new Error(`${path} cannot be used: ${z.prettifyError(parsed.error)}`);
  const { model, added_tokens: added } = parsed.data;
  const { vocab } = model;
  const places = new Map(vocab.map(([piece], place) => [piece, place]));
  const scores = Float32Array.from(vocab, ([, score]) => score);
  const table = {
    places,
    scores,
    longest: vocab.reduce((longest, [piece]) => Math.max(longest, piece.length), 1),
    unknownScore: scores.reduce((least, score) => Math.min(least, score), 0) - 10,
  };
  const idOf = (...contents: readonly string[]) => added.find(({ content }) => contents.includes(content))?.id;
  const [begin, end] = [idOf('<s>', '[CLS]'), idOf('</s>', '[SEP]')];
  const unknown = model.unk_id ?? idOf('<unk>') ?? 0;
  const ids = (text: string): readonly number[] => {
    const room = mostTokens - (begin === undefined ? 0 : 1) - (end === undefined ? 0 : 1);
    const pieces: number[] = [];
    for (const word of wordsOf(text)) {
      if (pieces.length >= room) break;
      for (const place of cutWord(word, table)) pieces.push(place < 0 ? unknown : place);
    }
    return [...(begin === undefined ? [] : [begin]), ...pieces.slice(0, room), ...(end === undefined ? [] : [end])];
  };
  return { ids, padding: idOf('<pad>', '[PAD]') ?? 0 };
}
