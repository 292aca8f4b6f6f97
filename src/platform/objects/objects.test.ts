import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { describe } from 'vitest';
import { startEdge } from '../../../test/edge/edge.fixture.ts';
import { describeObjects } from '../../../test/platform/objects/objects.conformance.ts';
import { openTestBucket, skipWithoutS3 } from '../../../test/platform/objects/s3.fixture.ts';
import { systemClock } from '../clock.ts';
import { openFilesystem } from './files/filesystem.ts';

describeObjects({
  name: 'files',
  supports: { streamsWithoutSize: true },
  open: async () => {
    const { originals, addressing, dataDir, close } = await startEdge();
    const missing = openFilesystem({
      bucket: 'missing',
      root: join(dataDir, 'missing'),
      stagingFolder: join(dataDir, '.incoming'),
      clock: systemClock,
      edge: addressing,
    });
    return { objects: originals, missing, close };
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
