/** What turns texts into vectors. Two drivers: `builtin.ts`, and `remote.ts` (OpenAI-compatible); chosen in `open.ts`. */

export interface Embedder {
  /** Kept with every vector: those of two names are never compared. */
  readonly name: string;
  /** Looks at words, not at meanings: what it finds alike is merged only where one wording holds the other. */
  readonly lexical: boolean;
  /** How much of a score is similarity of vectors, the rest being text; 0 to 1. */
  readonly searchWeight: number;
  /** Below this similarity, once calibrated, nothing is found by the vector alone. */
  readonly searchFloor: number;
  /** One vector of length 1 for each text. Throws `embedder_unavailable`. */
  embed(texts: readonly string[]): Promise<readonly Float32Array[]>;
  /** For a search: some models tell questions from what answers them. */
  embedQuery(text: string): Promise<Float32Array>;
  close(): Promise<void>;
}

export function cosine(left: Float32Array, right: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < left.length; index += 1) sum += (left[index] ?? 0) * (right[index] ?? 0);
  return sum;
}

/** To length 1, in place; a vector of zeros stays. */
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
