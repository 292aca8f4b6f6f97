/** A separate process for thumbnail.ts: makes one variant of each of the given files, as often as it has arguments after the format. */
import { readFileSync, writeFileSync } from 'node:fs';
import { toTransform } from '../src/image/engine/specs.ts';
import { createEngine } from '../src/image/engine/working.ts';

const [side = '', quality = '', format = '', output = '', ...sources] = process.argv.slice(2);
const engine = createEngine({
  maxSourcePixels: 50_000_000,
  processTimeoutMs: 60_000,
  concurrency: 1,
  permitWaitMs: 60_000,
});
const transform = toTransform({
  width: Number(side),
  height: Number(side),
  quality: Number(quality),
  format: format as 'jpeg' | 'png' | 'webp',
});
for (const source of sources) {
  const deliver = (bytes: Uint8Array) => writeFileSync(output, bytes);
  await engine.transform(readFileSync(source), [{ transform, deliver }]);
}
