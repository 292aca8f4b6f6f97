import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { integer, list, secret, type Values } from '#platform/config.ts';
import type { EngineLimits } from './engine/engine.ts';

const hex = () => randomBytes(32).toString('hex');

/**
 * docs/specification/image.md#limits. For every service that works with images, because they share the engine and the
 * variants.
 */
export const imageSettings = {
  keySecret: secret('SVC_IMAGE_KEY_SECRET', {
    make: hex,
    meaning: 'Keys the hash that names a variant. Changing it orphans every stored variant.',
  }),
  maxSourcePixels: integer('SVC_IMAGE_MAX_SRC_PIXELS', {
    default: 50_000_000,
    min: 1,
    meaning: 'Largest source, in pixels (width × height).',
  }),
  processTimeoutS: integer('SVC_IMAGE_PROCESS_TIMEOUT_SECS', {
    default: 30,
    min: 1,
    max: 3600,
    meaning: 'Seconds that the processing of one image may take.',
  }),
  concurrency: integer('SVC_IMAGE_CONCURRENCY', {
    default: availableParallelism(),
    min: 1,
    defaultText: 'number of processors',
    meaning: 'The number of images that are processed at the same time.',
  }),
  permitWaitMs: integer('SVC_IMAGE_PERMIT_WAIT_MS', {
    default: 5000,
    max: 600_000,
    meaning: 'Milliseconds that a request waits for a permit before it gets 503.',
  }),
} as const;

/** For the image service only. */
export const imageServiceSettings = {
  internalKey: secret('SVC_IMAGE_INTERNAL_KEY', {
    make: hex,
    meaning: 'The key that `POST /v1/ensure` and `/v1/forget` require as `X-Internal-Key`.',
  }),
  allowedSourceHosts: list('SVC_IMAGE_ALLOWED_SOURCE_HOSTS', {
    default: [],
    meaning:
      'Hosts (`host` or `host:port`) that may be fetched although they resolve to a private or loopback address.',
  }),
} as const;

export type ImageSettings = Values<typeof imageSettings>;
export type ImageServiceSettings = Values<typeof imageServiceSettings>;

export function engineLimits(settings: ImageSettings): EngineLimits {
  const { maxSourcePixels, processTimeoutS, concurrency, permitWaitMs } = settings;
  return { maxSourcePixels, processTimeoutMs: processTimeoutS * 1000, concurrency, permitWaitMs };
}
