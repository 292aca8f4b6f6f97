/** Embeds texts that come at the same time together. */
import { memoryProblems } from '../problems.ts';

/** Models accept some thousand tokens. In scripts without spaces, a character is about one token. */
const longestInput = 6_000;

interface BatchesOptions {
  readonly largest: number;
  /** How many batches are embedded at the same time. */
  readonly atOnce?: number;
  /** More texts fail at once, so that a slow machine does not collect them without limit. */
  readonly mostWaiting?: number;
}

interface Waiting {
  readonly text: string;
  readonly resolve: (vector: Float32Array) => void;
  readonly reject: (error: unknown) => void;
}

/** `embed` returns a vector for each text, and rejects with `embedder_unavailable`. */
export function createBatches(
  embed: (texts: readonly string[]) => Promise<readonly Float32Array[]>,
  { largest, atOnce = Number.POSITIVE_INFINITY, mostWaiting = Number.POSITIVE_INFINITY }: BatchesOptions,
) {
  const waiting: Waiting[] = [];
  let working = 0;
  const run = async () => {
    if (waiting.length === 0 || working >= atOnce) return;
    const batch = waiting.splice(0, largest);
    working += 1;
    try {
      const vectors = await embed(batch.map(({ text }) => text));
      for (const [index, { resolve, reject }] of batch.entries()) {
        const vector = vectors[index];
        if (vector === undefined) reject(unavailable('a vector is missing'));
        else resolve(vector);
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    working -= 1;
    void run();
  };
  return {
    /** `isUrgent`: before all that wait. */
    add: (text: string, isUrgent = false) =>
      new Promise<Float32Array>((resolve, reject) => {
        if (waiting.length >= mostWaiting) return reject(unavailable('too many texts are waiting'));
        const entry = { text: text.slice(0, longestInput).toWellFormed(), resolve, reject };
        if (isUrgent) waiting.unshift(entry);
        else waiting.push(entry);
        setImmediate(() => void run());
      }),
    /** Rejects all that wait. */
    close: () => {
      for (const { reject } of waiting.splice(0)) reject(unavailable('it is closed'));
    },
  };
}

export const unavailable = (reason: string): Error =>
  memoryProblems.embedder_unavailable({ cause: new Error(`Embeddings: ${reason}`) });

export function asUnavailable(cause: unknown): never {
  throw memoryProblems.embedder_unavailable({ cause });
}
