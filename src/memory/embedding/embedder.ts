/** Turns texts into vectors. `open.ts` chooses one of three drivers: `builtin.ts`, `local/local.ts` and `remote.ts` (OpenAI-compatible). */

export interface Embedder {
  /** Stored with every vector. Vectors of different names are never compared. */
  readonly name: string;
  /** The weight of the calibrated similarity in a score. The share of shared words weighs 1. */
  readonly searchWeight: number;
  /**
   * The share of the mean vector that is subtracted from the vector of a query, from 0 to 1. The vectors of some models
   * have a large common part, which hides the differences between texts.
   */
  readonly centering: number;
  /** Returns one vector of length 1 for each text. Throws `embedder_unavailable`. */
  embed(texts: readonly string[]): Promise<readonly Float32Array[]>;
  /** Embeds the query of a search. Some models distinguish queries from passages. */
  embedQuery(text: string): Promise<Float32Array>;
  close(): Promise<void>;
}

export function cosine(left: Float32Array, right: Float32Array): number {
  // Two sums, because each addition waits for the one before it. This takes half of the time of one sum.
  let [even, odd] = [0, 0];
  for (let index = 0; index < left.length; index += 2) {
    even += (left[index] ?? 0) * (right[index] ?? 0);
    odd += (left[index + 1] ?? 0) * (right[index + 1] ?? 0);
  }
  return even + odd;
}

/** Scales a vector to length 1, in place. Leaves a vector of zeros unchanged. */
export function normalise(vector: Float32Array): Float32Array {
  const length = Math.sqrt(cosine(vector, vector));
  if (length > 0) for (let index = 0; index < vector.length; index += 1) vector[index] = (vector[index] ?? 0) / length;
  return vector;
}

export async function embedOne(embedder: Pick<Embedder, 'embed'>, text: string): Promise<Float32Array> {
  const [vector] = await embedder.embed([text]);
  if (vector === undefined) throw new Error('An embedder gave no vector for a text');
  return vector;
}

// What is known of models, by their names: the prefixes that they expect, and how their vectors are best compared.

interface ModelTraits {
  /** Before a search query, according to the documentation of the model. */
  readonly query: string;
  /** Before a stored text. */
  readonly passage: string;
  /** `Embedder.centering`. */
  readonly centering: number;
  /** `Embedder.searchWeight`. */
  readonly searchWeight: number;
  /** Part of the name of the embedder. Change it if stored vectors must be made again. */
  readonly suffix: string;
}

const plain: ModelTraits = { query: '', passage: '', centering: 0, searchWeight: 1, suffix: '' };

/** The first match applies. */
const known: readonly (readonly [name: RegExp, traits: ModelTraits])[] = [
  // For example, multilingual-e5-large-instruct and e5-mistral expect a task instead.
  [/instruct|mistral/i, plain],
  [
    /(?:^|[/_-])e5[_-]/i,
    // Memories are single statements, and `passage: ` is for articles: the documentation recommends `query: ` on both
    // sides for texts of one kind. Measured on the tuned half of test/memory/meaning.fixture.ts, as are the weights.
    { query: 'query: ', passage: 'query: ', centering: 0.5, searchWeight: 1.2, suffix: '+2' },
  ],
  [/nomic-embed-text/i, { ...plain, query: 'search_query: ', passage: 'search_document: ' }],
  [/arctic-embed(?:2|-[ml]-v2)/i, { ...plain, query: 'query: ' }],
];

export function traitsOf(model: string): ModelTraits {
  return known.find(([name]) => name.test(model))?.[1] ?? plain;
}
