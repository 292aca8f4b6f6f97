import { randomBytes } from 'node:crypto';
import { integer, number, parseAddress, secret, setting, text, wordOr } from '#platform/config.ts';

/** docs/specification/system.md#engines. */
export const memorySettings = {
  adminToken: secret('MEMORY_ADMIN_TOKEN', { make: () => randomBytes(32).toString('hex') }),
  mergeSimilarity: number('MEMORY_MERGE_SIMILARITY', { default: 0.9, min: 0.5, max: 1 }),
  minRelevance: number('MEMORY_MIN_RELEVANCE', { default: 0.55, min: 0, max: 1 }),
} as const;

export const embeddingSettings = {
  baseUrl: setting('EMBEDDING_BASE_URL', wordOr('builtin', wordOr('local', parseAddress)), {
    default: 'builtin',
    requiredInProduction: true,
  }),
  apiKey: text('EMBEDDING_API_KEY', { secret: true }),
  model: text('EMBEDDING_MODEL'),
  dimensions: integer('EMBEDDING_DIMENSIONS', { default: 0, max: 16_000 }),
} as const;

/** docs/specification/memory.md#judging. */
export const memoryModelSettings = {
  baseUrl: setting('MEMORY_MODEL_BASE_URL', wordOr('off', parseAddress)),
  apiKey: text('MEMORY_MODEL_API_KEY', { secret: true }),
  name: text('MEMORY_MODEL_NAME'),
  dailyCalls: integer('MEMORY_MODEL_DAILY_CALLS', { default: 200, min: 1 }),
  timeoutS: integer('MEMORY_MODEL_TIMEOUT_SECS', { default: 30, min: 1, max: 60 }),
} as const;
