/** Searching a million PDQ hashes: the time to an answer, against a bare loop over the same words, and the delay of the event loop. */
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { createEngine } from '../src/image/engine/working.ts';
import { createMatcher, type Matcher } from '../src/media/screening/screening.ts';
import { photo, pipe } from '../test/image/images.fixture.ts';
import { atMost, type Bench, median, type Row } from './bench.ts';
import { compareCpu } from './rounds.ts';

const count = 1_000_000;
const rounds = 15;

export const screening: Bench = {
  async *run() {
    yield* await searching();
    yield* await registering();
  },
};

async function searching(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'atelier-bench-'));
  const bytes = randomBytes(count * 32);
  await writeFile(join(folder, 'pdq.txt'), bytes.toString('hex').replace(/.{64}/g, '$&\n'));
  const matcher = createMatcher(folder);
  try {
    return await compare(matcher, new Uint32Array(bytes.buffer, bytes.byteOffset, count * 8));
  } finally {
    await matcher.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function compare(matcher: Matcher, listed: Uint32Array): Promise<Row[]> {
  // Reads the list, and lets the code be compiled.
  for (let round = 0; round < 5; round++) await matcher.findNearest(randomBytes(32).toString('hex'));
  const ours: number[] = [];
  const bare: number[] = [];
  const busy: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const hash = randomBytes(32);
    const before = performance.eventLoopUtilization();
    ours.push(await msOf(() => matcher.findNearest(hash.toString('hex'))));
    busy.push(performance.eventLoopUtilization(before).active);
    bare.push(await msOf(() => scan(listed, new Uint32Array(new Uint8Array(hash).buffer))));
  }
  return [
    atMost(100, {
      goal: `search of ${count} PDQ hashes, ms (median)`,
      measured: median(ours),
      against: 'the limit',
    }),
    atMost(1.5, {
      goal: 'the same (median)',
      measured: median(ours) / median(bare),
      against: 'a bare loop of XOR and popcount',
    }),
    atMost(5, {
      goal: 'what a search takes of the event loop, ms (median)',
      measured: median(busy),
      against: 'the limit',
    }),
  ];
}

/** What a registration adds to reading: facts, thumb and PDQ of one decoding, against one for each by hand. */
async function registering(): Promise<Row[]> {
  const engine = createEngine({ maxSourcePixels: 5e7, processTimeoutMs: 30_000, concurrency: 2, permitWaitMs: 5000 });
  const matcher = createMatcher(undefined);
  const jpeg = await pipe(photo(2000, 1500)).jpeg({ quality: 85 }).toBuffer();
  const digest = () => ['sha256', 'md5'].map((name) => createHash(name).update(jpeg).digest('hex'));
  const raw = (side: number) =>
    sharp(jpeg).autoOrient().resize(side, side, { fit: 'inside' }).raw().toBuffer({ resolveWithObject: true });
  try {
    const cpu = await compareCpu(10, {
      ours: {
        work: async () => {
          digest();
          await matcher.hash((await engine.inspect(jpeg)).rendition);
        },
      },
      byHand: {
        work: async () => {
          digest();
          await sharp(jpeg).metadata();
          await raw(32);
          const { data, info } = await raw(512);
          await matcher.hash({ data, ...info });
        },
      },
    });
    return [
      atMost(1.25, {
        goal: 'facts, digests, thumb and PDQ of a 3 megapixel JPEG, by processor time',
        measured: cpu.ratio('ours', 'byHand'),
        against: 'the same steps one by one',
      }),
    ];
  } finally {
    await matcher.close();
  }
}

async function msOf(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Every word of every hash. */
function scan(listed: Uint32Array, hash: Uint32Array): number {
  let nearest = 256;
  for (let at = 0; at < listed.length; at += 8) {
    let distance = 0;
    for (let word = 0; word < 8; word++) {
      let bits = (listed[at + word] ?? 0) ^ (hash[word] ?? 0);
      bits -= (bits >>> 1) & 0x55555555;
      bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
      distance += Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
    }
    if (distance < nearest) nearest = distance;
  }
  return nearest;
}
