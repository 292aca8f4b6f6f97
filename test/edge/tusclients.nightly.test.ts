import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inLane } from '../lane.fixture.ts';
import { type CuttingRig, startCutting } from './cutting.fixture.ts';
import { drivers } from './edge.fixture.ts';
import { digestOf, uploadByUppy, uploadFile, writeRandom } from './tusclients.fixture.ts';

const MB = 1_000_000;
const patience = { timeout: 120_000 };

/** Several S3 parts, and a rest. */
const size = 32 * MB;

describe.each(inLane(drivers))('over broken connections, on $name', patience, ({ name, missing }) => {
  describe.skipIf(missing)('', () => {
    let rig: CuttingRig;
    let folder: string;
    let path: string;
    let digest: string;
    beforeAll(async () => {
      rig = await startCutting(name);
      folder = await mkdtemp(join(tmpdir(), 'atelier-tus-'));
      path = join(folder, 'video.mp4');
      digest = await writeRandom(path, size);
    });
    afterAll(async () => {
      await rig.close();
      await rm(folder, { recursive: true });
    });

    it('tus-js-client resumes after each cut and after a kill of the edge', async () => {
      rig.cutAt(1 * MB, 5 * MB, 12 * MB, 13 * MB, 30 * MB);
      rig.killAt(20 * MB);
      const before = rig.cuts;
      await uploadFile(path, rig.reserve('u/1/one.mp4', size));
      expect(rig.cuts - before).toBe(5);
      expect(await digestOf(rig.objects, 'u/1/one.mp4')).toBe(digest);
    });

    it('tus-js-client sends pieces, and loses none to a kill of the edge', async () => {
      const pieces = join(folder, 'pieces.mp4');
      const digestOfPieces = await writeRandom(pieces, 12 * MB);
      rig.cutAt(4 * MB);
      rig.killAt(7 * MB);
      const accepted: number[] = [];
      await uploadFile(pieces, rig.reserve('u/1/two.mp4', 12 * MB), {
        chunkSize: 2.5 * MB,
        onChunkComplete: (_, bytesAccepted) => accepted.push(bytesAccepted),
      });
      expect(accepted).toEqual(accepted.toSorted((a, b) => a - b));
      expect(await digestOf(rig.objects, 'u/1/two.mp4')).toBe(digestOfPieces);
    });

    it('Uppy resumes', async () => {
      const bytes = randomBytes(10 * MB);
      rig.cutAt(2 * MB, 9 * MB);
      await uploadByUppy(bytes, rig.reserve('u/1/three.mp4', bytes.length));
      expect(await digestOf(rig.objects, 'u/1/three.mp4')).toBe(createHash('sha256').update(bytes).digest('hex'));
    });
  });
});
