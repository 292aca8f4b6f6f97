import { integer, setting, type Values } from '#platform/config.ts';
import { noPresets, type Presets, parsePresets } from './presets.ts';

const GiB = 1024 ** 3;

export const edgeSettings = {
  maxStagedBytes: integer('EDGE_MAX_STAGED_BYTES', {
    default: 32 * GiB,
    min: 1,
    defaultText: '32 GiB',
    meaning:
      'Bytes of unfinished uploads on the disk of one process. Above the limit, the slowest upload ends, or the new one gets 503.',
  }),
  presets: setting<Presets>(
    'IMGPROXY_PRESETS',
    {
      default: noPresets,
      defaultText: 'none',
      meaning: 'Names for options of image URLs, in the notation of imgproxy: `name=option/option,name=option`.',
    },
    parsePresets,
  ),
} as const;

export type EdgeSettings = Values<typeof edgeSettings>;
