/** Chooses the embedder (docs/specification/system.md#engines). */
import type { Values } from '#platform/config.ts';
import type { Telemetry } from '#platform/telemetry/telemetry.ts';
import type { embeddingSettings } from '../config.ts';
import { createBuiltinEmbedder } from './builtin.ts';
import type { Embedder } from './embedder.ts';
import { createRemoteEmbedder } from './remote.ts';

export function openEmbedder(settings: Values<typeof embeddingSettings>, telemetry?: Telemetry): Embedder {
  const { baseUrl, apiKey, model, dimensions } = settings;
  if (baseUrl === 'builtin') return createBuiltinEmbedder();
  return createRemoteEmbedder({
    baseUrl,
    apiKey,
    model: model ?? '',
    dimensions,
    ...(telemetry === undefined ? {} : { telemetry }),
  });
}
