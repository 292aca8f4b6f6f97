import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'vitest';
import { systemClock } from '../clock.ts';
import { deriveAddressKey } from './addresses.ts';
import { describeObjects } from './conformance.ts';
import { openFilesystem } from './filesystem.ts';
import { openTestBucket, skipWithoutS3 } from './s3.testing.ts';

describeObjects({
  name: 'files',
  supports: { streamsWithoutSize: true },
  open: async () => {
    const folder = await mkdtemp(join(tmpdir(), 'atelier-objects-'));
    const edge = { url: 'http://localhost:4010', secret: deriveAddressKey('aa'.repeat(32), 'bb'.repeat(32)) };
    const open = (bucket: string) =>
      openFilesystem({
        bucket,
        root: join(folder, bucket),
        stagingFolder: join(folder, '.incoming'),
        clock: systemClock,
        edge,
      });
    return {
      objects: open('objects'),
      missing: open('missing'),
      close: () => rm(folder, { recursive: true }),
    };
  },
});

describe.skipIf(skipWithoutS3)('a real S3 server', () => {
  describeObjects({
    name: 'S3',
    supports: { streamsWithoutSize: false },
    open: async () => {
      const { store, objects, close } = await openTestBucket();
      return { objects, missing: store.bucket(`missing-${randomUUID()}`), close };
    },
  });
});
