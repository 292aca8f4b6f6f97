/**
 * The image service in a separate process, over files in the folder of the first argument. Sends its port, and answers each
 * message with the CPU time used and the objects written so far. `bare` runs the baseline first: the image through sharp alone.
 * If the second argument is `patient`, no request times out while it waits for others.
 */
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
// The engine's own copy: ipx brings another, and two cannot live in one process.
import sharp from '../node_modules/sharp/dist/index.mjs';
import { createVariantMaker } from '../src/image/engine/variants.ts';
import { createEngine } from '../src/image/engine/working.ts';
import { createImageService } from '../src/image/service.ts';
import { systemClock } from '../src/platform/clock.ts';
import { createLog } from '../src/platform/log.ts';
import { openFilesystem } from '../src/platform/objects/files/filesystem.ts';

const [folder = '', patience] = process.argv.slice(2);
const waitMs = patience === 'patient' ? 3_600_000 : 30_000;
const open = (bucket: string) =>
  openFilesystem({
    bucket,
    root: join(folder, bucket),
    stagingFolder: join(folder, '.incoming'),
    clock: systemClock,
  });
const originals = open('objects');
const store = open('public');
let writes = 0;
const publicObjects: typeof store = {
  ...store,
  put: (...args) => {
    writes += 1;
    return store.put(...args);
  },
};
const limits = { maxSourcePixels: 50_000_000, processTimeoutMs: waitMs, concurrency: 2, permitWaitMs: waitMs };
const service = createImageService({
  settings: { internalKey: 'key', allowedSourceHosts: [], permitWaitMs: waitMs, processTimeoutS: waitMs / 1000 },
  variants: createVariantMaker({ engine: createEngine(limits), keySecret: 'secret', publicObjects, limits }),
  originals,
  publicUrl: 'http://cdn.test',
  server: { log: createLog({ level: 'silent' }), readiness: {} },
});
await service.listen({ host: '127.0.0.1', port: 0 });

const photo = readFileSync(join(folder, 'objects', 'photo.jpg'));
/** Not `maxRSS` of `process.resourceUsage()`: on Linux, it starts with the size of the parent process. */
function ownPeakBytes(): number {
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  return Number(kilobytes) * 1024;
}

process.on('message', async (message) => {
  if (message === 'bare')
    await sharp(photo).autoOrient().resize(1024, 1024, { fit: 'inside' }).webp({ quality: 75 }).toBuffer();
  const { user, system } = process.cpuUsage();
  process.send?.({ cpuMs: (user + system) / 1000, writes, peakBytes: ownPeakBytes() });
});
process.on('disconnect', () => process.exit());
process.send?.({ port: (service.server.address() as AddressInfo).port });
