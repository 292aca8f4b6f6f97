import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startCutting } from './cutting.fixture.ts';
import { drivers } from './edge.fixture.ts';
import { digestOf, uploadFile, writeRandom } from './tusclients.fixture.ts';

const MiB = 1024 ** 2;
const size = 1024 * MiB;
const cuts = Array.from({ length: 20 }, (_, at) => (at + 1) * 45 * MiB);

describe.each(drivers)('1 GiB over 20 cut connections and a restart, on $name', ({ name, missing }) => {
  it.skipIf(missing)('arrives whole, in bounded memory', { timeout: 1_200_000 }, async () => {
    const rig = await startCutting(name);
    const folder = await mkdtemp(join(tmpdir(), 'atelier-tus-'));
    try {
      const path = join(folder, 'video.mp4');
      const digest = await writeRandom(path, size);
      // The first upload compiles and loads what each upload needs.
      const small = join(folder, 'small.mp4');
      await writeRandom(small, MiB);
      await uploadFile(small, rig.reserve('u/1/small.mp4', MiB));
      const idle = (await rig.memory()).now;
      // The restart comes early, so that one process receives most of the file.
      rig.killAt(30 * MiB);
      rig.cutAt(...cuts);
      const peaks: number[] = [];
      const sampling = setInterval(
        () =>
          void rig.memory().then(
            ({ now }) => peaks.push(now),
            () => undefined,
          ),
        100,
      );
      await uploadFile(path, rig.reserve('u/1/large.mp4', size));
      clearInterval(sampling);
      expect(rig.cuts).toBe(20);
      expect(await digestOf(rig.objects, 'u/1/large.mp4')).toBe(digest);
      // A killed process has no memory to report.
      const peak = Math.max(...peaks.filter(Number.isFinite));
      console.log(`idle ${Math.round(idle / MiB)} MiB, peak ${Math.round(peak / MiB)} MiB`);
      expect(peak - idle).toBeLessThan(64 * MiB);
    } finally {
      await rig.close();
      await rm(folder, { recursive: true });
    }
  });
});
