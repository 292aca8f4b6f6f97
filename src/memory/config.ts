import { randomBytes } from 'node:crypto';
import { integer, parseAddress, secret, setting, text } from '#platform/config.ts';

/** docs/specification/system.md#engines. */
const share =
  (least: number) =>
  (raw: string): number => {
    const value = Number(raw);
    if (!/^\d(?:\.\d+)?$/.test(raw) || value < least || value > 1)
      throw new Error(`must be a number from ${least} to 1`);
    return value;
  };

export const memorySettings = {
  adminToken: secret('MEMORY_ADMIN_TOKEN', {
    make: () => randomBytes(32).toString('hex'),
    meaning: 'The token that operators send as `X-Admin-Token` to the admin API of the memory service.',
  }),
  mergeSimilarity: setting(
    'MEMORY_MERGE_SIMILARITY',
    {
      default: 0.9,
      meaning: 'Two memories merge if their calibrated similarity exceeds this; 0.5 to 1.',
    },
    share(0.5),
  ),
  minRelevance: setting(
    'MEMORY_MIN_RELEVANCE',
    {
      default: 0.55,
      meaning:
        '`POST /inject` returns the memories with at least this calibrated similarity to the query, or else the best one; 0 to 1. Unrelated texts are near 0.3 and stay below 0.55.',
    },
    share(0),
  ),
} as const;

export const embeddingSettings = {
  baseUrl: setting(
    'EMBEDDING_BASE_URL',
    {
      default: 'builtin',
      requiredInProduction: true,
      meaning:
        'The URL of an OpenAI-compatible API, without `/embeddings`. `builtin`: an embedder without download. `local`: a model in this process, downloaded by `npm run embedder`.',
    },
    (raw) => (raw === 'builtin' || raw === 'local' ? raw : parseAddress(raw)),
  ),
  apiKey: text('EMBEDDING_API_KEY', {
    secret: true,
    meaning: 'The API key for `EMBEDDING_BASE_URL`, if it requires one.',
  }),
  model: text('EMBEDDING_MODEL', {
    meaning:
      'The name of the model. Required with a URL. With `local`, a model with a unigram vocabulary in ONNX (`Xenova/multilingual-e5-small`), or the path of its folder.',
  }),
  dimensions: integer('EMBEDDING_DIMENSIONS', {
    default: 0,
    defaultText: 'determined by the model',
    max: 16_000,
    meaning:
      'The number of dimensions of a vector. If set, it is requested, and responses with another number are rejected.',
  }),
} as const;

/** docs/specification/memory.md#judging. */
export const memoryModelSettings = {
  baseUrl: setting(
    'MEMORY_MODEL_BASE_URL',
    {
      defaultText: "the agent's model",
      meaning:
        'OpenAI-compatible chat completions for judging and extracting memories (docs/memory.md#language-model); `off`: none.',
    },
    (raw) => (raw === 'off' ? raw : parseAddress(raw)),
  ),
  apiKey: text('MEMORY_MODEL_API_KEY', {
    secret: true,
    meaning: 'The API key. Without `MEMORY_MODEL_BASE_URL`, it replaces the key of the agent.',
  }),
  name: text('MEMORY_MODEL_NAME', { meaning: "The model, if it is not the agent's first one; `off`: none." }),
  dailyCalls: integer('MEMORY_MODEL_DAILY_CALLS', {
    default: 200,
    min: 1,
    meaning:
      'Calls of this model for one entity and day in UTC. Above the limit, memories wait and `POST /memory/extract` returns 429.',
  }),
  timeoutS: integer('MEMORY_MODEL_TIMEOUT_SECS', {
    default: 30,
    min: 1,
    max: 60,
    meaning: 'The time limit of one call of this model.',
  }),
} as const;
