import { integer, setting, type Values } from '#platform/config.ts';
import { noPresets, type Presets, parsePresets } from './presets.ts';

const GiB = 1024 ** 3;

export const edgeSettings = {
  maxStagedBytes: integer('EDGE_MAX_STAGED_BYTES', { default: 32 * GiB, min: 1 }),
  presets: setting<Presets>('IMGPROXY_PRESETS', parsePresets, { default: noPresets }),
} as const;

export type EdgeSettings = Values<typeof edgeSettings>;
