import { integer, type Values } from '#platform/config.ts';

const GiB = 1024 ** 3;

export const edgeSettings = {
  maxStagedBytes: integer('EDGE_MAX_STAGED_BYTES', {
    default: 32 * GiB,
    min: 1,
    defaultText: '32 GiB',
    meaning:
      'Bytes of unfinished uploads that one process of the edge keeps on disk; over it the slowest upload ends, or 503.',
  }),
} as const;

export type EdgeSettings = Values<typeof edgeSettings>;
