/**
 * Embeddings of an OpenAI-compatible API. Concurrent texts share a request. A response with another number of vectors,
 * other dimensions, values that are not numbers, or only zeros is an error, and nothing of it is stored.
 */

import { z } from 'zod';
import { createClient, type HttpClient } from '#platform/http/client.ts';
import { withDeadline } from '#platform/resilience.ts';
import type { Telemetry } from '#platform/telemetry/trace.ts';
import { asUnavailable, createBatches, unavailable } from './batches.ts';
import { type Embedder, normalise, traitsOf } from './embedder.ts';

export interface RemoteEmbedderOptions {
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly model: string;
  /** If 0, the first response sets the number, and all others must agree. */
  readonly dimensions: number;
  readonly telemetry?: Telemetry;
}

/** The limit of a call with its retries. Every response must come within 10 s (docs/specification/http.md#failing-engines). */
const timeoutMs = 6_000;
/** A shorter limit for searches, which can fall back to text. */
const queryTimeoutMs = 1_000;
const largestBatch = 64;

const answerShape = z.object({
  data: z.array(z.object({ index: z.int().optional(), embedding: z.array(z.number()) })),
});

export function createRemoteEmbedder(options: RemoteEmbedderOptions): Embedder {
  const { model, dimensions } = options;
  const { query, passage, suffix, searchWeight, centering } = traitsOf(model);
  const client = createClient({
    name: 'embeddings',
    baseUrl: options.baseUrl,
    isInternal: false,
    timeoutMs,
    maxConnections: 8,
    maxResponseBytes: 64 * 1024 * 1024,
    ...(options.telemetry === undefined ? {} : { telemetry: options.telemetry }),
  });
  // The first response sets the number of dimensions: vectors of different dimensions cannot be compared.
  let knownDimensions = dimensions;
  const batches = createBatches(
    async (texts) => {
      const vectors = await requestVectors(client, options, texts);
      const length = vectors[0]?.length ?? 0;
      knownDimensions ||= length;
      if (length !== knownDimensions) throw unavailable(`a vector has ${length} dimensions`);
      return vectors;
    },
    { largest: largestBatch },
  );

  return {
    name: `${model}${dimensions === 0 ? '' : `:${dimensions}`}${suffix}`,
    searchWeight,
    centering,
    embed: (texts) => Promise.all(texts.map((text) => batches.add(passage + text))),
    embedQuery: (text) => withDeadline(queryTimeoutMs, () => batches.add(query + text)).catch(asUnavailable),
    close: () => client.close(),
  };
}

async function requestVectors(
  client: HttpClient,
  { apiKey, model, dimensions }: RemoteEmbedderOptions,
  input: readonly string[],
): Promise<readonly Float32Array[]> {
  const answer = await client
    .send({
      method: 'POST',
      path: '/embeddings',
      route: '/embeddings',
      json: { model, input, encoding_format: 'float', ...(dimensions === 0 ? {} : { dimensions }) },
      headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
      idempotent: true,
    })
    .catch(asUnavailable);
  if (answer.status !== 200) throw unavailable(`it answered with ${answer.status}`);
  const parsed = answerShape.safeParse(parse(answer.body));
  if (!parsed.success) throw unavailable('its answer is not of the known shape');
  const { data } = parsed.data;
  if (data.length !== input.length) throw unavailable(`it gave ${data.length} vectors for ${input.length} texts`);
  const vectors: Float32Array[] = [];
  for (const [place, { index = place, embedding }] of data.entries()) vectors[index] = checked(embedding, dimensions);
  const length = vectors[0]?.length;
  if (vectors.some((vector) => vector.length !== length)) throw unavailable('its vectors differ in length');
  return vectors;
}

function checked(embedding: readonly number[], dimensions: number): Float32Array {
  if (embedding.length === 0 || (dimensions !== 0 && embedding.length !== dimensions))
    throw unavailable(`a vector has ${embedding.length} dimensions`);
  const vector = normalise(Float32Array.from(embedding));
  // Also rejects a sum that overflowed, and a vector of zeros, which is similar to nothing.
  const length = vector.reduce((sum, value) => sum + value * value, 0);
  if (!(Math.abs(length - 1) < 0.01)) throw unavailable('a vector has no direction');
  return vector;
}

/** Rejects invalid JSON, which some servers send for NaN. */
function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw unavailable('its answer is not JSON');
  }
}
