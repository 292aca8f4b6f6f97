/** Chooses the embedder (docs/specification/system.md#engines). */
import type { Values } from '#platform/config.ts';
import type { Telemetry } from '#platform/telemetry/trace.ts';
import type { embeddingSettings } from '../config.ts';
import { createBuiltinEmbedder } from './builtin.ts';
import type { Embedder } from './embedder.ts';
import { createLocalEmbedder } from './local/local.ts';
import { defaultModel } from './local/models.ts';
import { createRemoteEmbedder } from './remote.ts';

interface OpeningOptions {
  /** ATELIER_DATA_DIR, which has downloaded models. */
  readonly dataDir?: string;
  readonly telemetry?: Telemetry;
}

/** Throws a `StartFault` if the files of a local model are missing. */
export function openEmbedder(
  settings: Values<typeof embeddingSettings>,
  { dataDir = 'data', telemetry }: OpeningOptions = {},
): Embedder {
  const { baseUrl, apiKey, model, dimensions } = settings;
  if (baseUrl === 'builtin') return createBuiltinEmbedder();
  if (baseUrl === 'local') return createLocalEmbedder({ model: model ?? defaultModel, dataDir });
  return createRemoteEmbedder({
    baseUrl,
    apiKey,
    model: model ?? '',
    dimensions,
    ...(telemetry === undefined ? {} : { telemetry }),
  });
}
