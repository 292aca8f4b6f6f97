import { randomBytes } from 'node:crypto';
import { integer, parseAddress, secret, setting, text } from '#platform/config.ts';

/** docs/specification/system.md#engines. */
export const memorySettings = {
  adminToken: secret('MEMORY_ADMIN_TOKEN', {
    make: () => randomBytes(32).toString('hex'),
    meaning: 'What operators send as `X-Admin-Token` to the admin API of the memory service.',
  }),
  mergeSimilarity: setting(
    'MEMORY_MERGE_SIMILARITY',
    {
      default: 0.9,
      meaning: 'Two memories merge if their calibrated similarity exceeds this; 0.5 to 1.',
    },
    (raw) => {
      const value = Number(raw);
      if (!/^\d(?:\.\d+)?$/.test(raw) || value < 0.5 || value > 1) throw new Error('must be a number from 0.5 to 1');
      return value;
    },
  ),
} as const;

export const embeddingSettings = {
  baseUrl: setting(
    'EMBEDDING_BASE_URL',
    {
      default: 'builtin',
      requiredInProduction: true,
      meaning:
        'An OpenAI-compatible API up to before `/embeddings`; `builtin`: an embedder that needs no download; `local`: a model in this process, downloaded by `npm run embedder`.',
    },
    (raw) => (raw === 'builtin' || raw === 'local' ? raw : parseAddress(raw)),
  ),
  apiKey: text('EMBEDDING_API_KEY', { secret: true, meaning: 'Its key, where it wants one.' }),
  model: text('EMBEDDING_MODEL', {
    meaning:
      'The name of the model; needed with an address. With `local`, a model with a unigram vocabulary in ONNX (`Xenova/multilingual-e5-small`), or the path of its folder.',
  }),
  dimensions: integer('EMBEDDING_DIMENSIONS', {
    default: 0,
    defaultText: 'as the model gives',
    max: 16_000,
    meaning: 'How many numbers a vector has. When set it is asked for, and every other answer is refused.',
  }),
} as const;
