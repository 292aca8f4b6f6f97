/** The goals of the image variant service, each against its limit: bare sharp, ipx 3, the naive way, or the store itself. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
// The engine's own copy: ipx brings another, and two cannot live in one process.
import sharp from '../node_modules/sharp/dist/index.mjs';
import { objectSource } from '../src/image/engine/sources.ts';
import { toTransform, type VariantSpec, withEdits } from '../src/image/engine/specs.ts';
import { createVariantMaker } from '../src/image/engine/variants.ts';
import { createEngine } from '../src/image/engine/working.ts';
import { systemClock } from '../src/platform/clock.ts';
import { openFilesystem } from '../src/platform/objects/files/filesystem.ts';
import { blankPng, photo, pipe } from '../test/image/images.fixture.ts';
import { atMost, type Bench, type Outcome, type Row, skipWithout } from './bench.ts';
import { ipx as ipxPackage } from './needs.ts';
import { type Case, compareCpu } from './rounds.ts';

export const imageOverHttp: Bench = { run: overHttp };
export const imageEngine: Bench = { run: inProcess };

const limits = { maxSourcePixels: 50_000_000, processTimeoutMs: 60_000, concurrency: 2, permitWaitMs: 60_000 };
const rounds = 31;
/** Of what takes long: a search for a quality decodes the image seven times. */
const fewRounds = 9;

/** 12 megapixels with the noise of a camera's sensor, as large a file as a telephone makes of them. */
export async function makePhoto(width = 4000, height = 3000): Promise<{ jpeg: Buffer; png: Buffer }> {
  const grain = await sharp({
    create: { width, height, channels: 3, background: '#000', noise: { type: 'gaussian', mean: 128, sigma: 20 } },
  })
    .raw()
    .toBuffer();
  const pixels = await pipe(photo(800, 600))
    .resize(width, height)
    .composite([{ input: grain, raw: { width, height, channels: 3 }, blend: 'overlay' }])
    .removeAlpha()
    .raw()
    .toBuffer();
  const image = { data: pixels, width, height, channels: 3 } as const;
  return { jpeg: await pipe(image).jpeg({ quality: 90 }).toBuffer(), png: await pipe(image).png().toBuffer() };
}

// --- over HTTP: each service in a process of its own, and its CPU alone is counted ---

interface ChildMessage {
  readonly port?: number;
  readonly cpuMs?: number;
  readonly writes?: number;
}

async function* overHttp(): AsyncGenerator<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-image-'));
  const originals = join(folder, 'objects');
  mkdirSync(originals);
  writeFileSync(join(originals, 'photo.jpg'), (await makePhoto()).jpeg);
  const ours = await startProcess('image-service.ts', folder);
  const withoutIpx = await skipWithout(`${coldMiss}, against ipx 3`, ipxPackage);
  const ipx = withoutIpx === undefined ? await startProcess('peers/ipx.mjs', originals) : undefined;
  try {
    yield* await coldMisses(ours, ipx);
    if (withoutIpx !== undefined) yield withoutIpx;
    yield* await sixteenAtOnce(ours);
  } finally {
    ours.child.disconnect();
    ipx?.child.disconnect();
    rmSync(folder, { recursive: true });
  }
}

export interface Service {
  readonly child: ChildProcess;
  readonly base: string;
  readonly ask: (message: string) => Promise<ChildMessage>;
  readonly cpuMs: () => Promise<number>;
}

export async function startProcess(program: string, folder: string): Promise<Service> {
  const child = fork(fileURLToPath(new URL(program, import.meta.url)), [folder], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const [{ port }] = (await once(child, 'message')) as [ChildMessage];
  const ask = async (message: string): Promise<ChildMessage> => {
    const answer = once(child, 'message');
    child.send(message);
    const [reply] = (await answer) as [ChildMessage];
    return reply;
  };
  return { child, base: `http://127.0.0.1:${port}`, ask, cpuMs: async () => (await ask('cpu')).cpuMs ?? Number.NaN };
}

export async function post(service: Service, path: string, body: object): Promise<void> {
  const answer = await fetch(`${service.base}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-internal-key': 'key' },
    body: JSON.stringify({ source: { key: 'photo.jpg' }, ...body }),
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  await answer.arrayBuffer();
}

const ensure = (service: Service) => post(service, '/v1/ensure', { specs: [{ name: 'v', width: 1024, height: 1024 }] });
const forget = (service: Service) => post(service, '/v1/forget', {});

const coldMiss = 'cold miss over HTTP, 12 MP to 1024 px webp';

async function coldMisses(ours: Service, ipx: Service | undefined): Promise<Row[]> {
  const fromIpx = async (base: string) => {
    const answer = await fetch(`${base}/w_1024,f_webp,q_75/photo.jpg`);
    if (answer.headers.get('content-type') !== 'image/webp') throw new Error(`ipx answered ${answer.status}`);
    await answer.arrayBuffer();
  };
  const cases: Record<string, Case> = {
    ours: { prepare: () => forget(ours), work: () => ensure(ours), cpuMs: ours.cpuMs },
    bare: { work: () => ours.ask('bare'), cpuMs: ours.cpuMs },
  };
  if (ipx !== undefined) cases.ipx = { work: () => fromIpx(ipx.base), cpuMs: ipx.cpuMs };
  const cpu = await compareCpu(rounds, cases);
  const goal = coldMiss;
  const rows = [atMost(1.1, { goal, measured: cpu.ratio('ours', 'bare'), against: 'bare sharp' })];
  if (ipx !== undefined) rows.push(atMost(1, { goal, measured: cpu.ratio('ours', 'ipx'), against: 'ipx 3' }));
  return rows;
}

async function sixteenAtOnce(ours: Service): Promise<Row[]> {
  const sixteen = () => Promise.all(Array.from({ length: 16 }, () => ensure(ours)));
  const cpu = await compareCpu(rounds, {
    sixteen: { prepare: () => forget(ours), work: sixteen, cpuMs: ours.cpuMs },
    one: { prepare: () => forget(ours), work: () => ensure(ours), cpuMs: ours.cpuMs },
  });
  await forget(ours);
  const before = (await ours.ask('writes')).writes ?? 0;
  await sixteen();
  const writes = ((await ours.ask('writes')).writes ?? 0) - before;
  return [
    atMost(1.3, { goal: '16 identical cold requests', measured: cpu.ratio('sixteen', 'one'), against: 'one' }),
    {
      goal: 'store writes of 16 identical cold requests',
      measured: writes,
      bound: 'exactly 1',
      against: 'one each',
      holds: writes === 1,
    },
  ];
}

// --- in this process ---

async function* inProcess(): AsyncGenerator<Outcome> {
  const image = await makePhoto();
  yield await budget(image.jpeg, 'webp', 0.6);
  yield await budget(image.jpeg, 'jpeg', 0.35);
  yield await twoOfPng(image.png);
  yield await smartCrop(image.jpeg);
  yield await upload(image.jpeg);
  yield await bomb(image.jpeg);
  yield await hit(image.jpeg);
}

const engine = createEngine(limits);

async function transform(bytes: Uint8Array, ...specs: readonly VariantSpec[]): Promise<readonly Uint8Array[]> {
  const outputs: Uint8Array[] = [];
  const deliver = (output: Uint8Array) => outputs.push(output);
  await engine.transform(
    bytes,
    specs.map((spec) => ({ transform: toTransform(spec), deliver })),
  );
  return outputs;
}

const bare = (bytes: Uint8Array, side: number) => sharp(bytes).autoOrient().resize(side, side, { fit: 'inside' });

/** The naive way decodes the source again for each quality of the same search. */
async function budget(jpeg: Buffer, format: 'webp' | 'jpeg', bound: number): Promise<Row> {
  const quality = 85;
  const attempt = (candidate: number) => bare(jpeg, 1024)[format]({ quality: candidate }).toBuffer();
  const maxBytes = (await attempt(47)).length;
  let found = 0;
  const naive = async () => {
    let best: Buffer | undefined;
    for (let low = 10, high = quality; low <= high; ) {
      const middle = best === undefined && high === quality ? quality : (low + high) >> 1;
      const output = await attempt(middle);
      if (output.length <= maxBytes) [best, low] = [output, middle + 1];
      else high = middle - 1;
    }
    found = best?.length ?? 0;
  };
  const ours = async () => {
    const [output] = await transform(jpeg, { width: 1024, height: 1024, quality, format, maxBytes });
    if (found !== 0 && output?.length !== found) throw new Error('the two searches differ');
  };
  const cpu = await compareCpu(fewRounds, { naive: { work: naive }, ours: { work: ours } });
  return atMost(bound, {
    goal: `maxBytes: ${format}`,
    measured: cpu.ratio('ours', 'naive'),
    against: 'decoding for each quality',
  });
}

async function twoOfPng(png: Buffer): Promise<Row> {
  const cpu = await compareCpu(fewRounds, {
    ours: {
      work: () => transform(png, { width: 400, height: 400, quality: 80 }, { width: 1024, height: 1024, quality: 85 }),
    },
    bare: {
      work: async () => {
        await bare(png, 400).webp({ quality: 80 }).toBuffer();
        await bare(png, 1024).webp({ quality: 85 }).toBuffer();
      },
    },
  });
  return atMost(0.9, {
    goal: 'two variants of a PNG',
    measured: cpu.ratio('ours', 'bare'),
    against: 'two bare pipelines',
  });
}

async function smartCrop(jpeg: Buffer): Promise<Row> {
  const spec = toTransform({ width: 400, height: 400, quality: 80, resizingType: 'fill' });
  const cropped = withEdits(spec, { gravity: { type: 'sm', x: 0, y: 0 } });
  const options = { fit: 'cover', position: 'attention' } as const;
  const cpu = await compareCpu(rounds, {
    ours: { work: () => engine.transform(jpeg, [{ transform: cropped, deliver: () => undefined }]) },
    bare: { work: () => sharp(jpeg).autoOrient().resize(400, 400, options).webp({ quality: 80 }).toBuffer() },
  });
  return atMost(1.3, {
    goal: 'a smart crop',
    measured: cpu.ratio('ours', 'bare'),
    against: "sharp's own attention crop",
  });
}

async function upload(jpeg: Buffer): Promise<Row> {
  const cpu = await compareCpu(rounds, {
    ours: { work: () => engine.inspect(jpeg) },
    bare: {
      work: async () => {
        await bare(jpeg, 400).webp({ quality: 80 }).toBuffer();
        await bare(jpeg, 512).raw().toBuffer();
      },
    },
  });
  return atMost(0.85, {
    goal: 'metadata, blurhash and the pixels for PDQ at upload',
    measured: cpu.ratio('ours', 'bare'),
    against: 'one 400 px webp and the pixels for PDQ',
  });
}

async function bomb(jpeg: Buffer): Promise<Row> {
  const huge = blankPng(16_000, 16_000);
  const refused = async () => {
    const refusal = await transform(huge, {}).catch((error: unknown) => error);
    if (!(refusal instanceof Error) || refusal.name !== 'ImageFault') throw new Error('the bomb went off');
  };
  const cpu = await compareCpu(rounds, {
    bomb: { work: refused },
    valid: { work: () => transform(jpeg, { width: 1024, height: 1024 }) },
  });
  return atMost(0.05, {
    goal: 'rejecting a 256 MP bomb',
    measured: cpu.ratio('bomb', 'valid'),
    against: 'a valid 12 MP variant',
  });
}

async function hit(jpeg: Buffer): Promise<Row> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-image-'));
  try {
    const open = (bucket: string) =>
      openFilesystem({
        bucket,
        root: join(folder, bucket),
        stagingFolder: join(folder, '.incoming'),
        clock: systemClock,
      });
    const [originals, publicObjects] = [open('objects'), open('public')];
    await originals.put('photo.jpg', jpeg, { contentType: 'image/jpeg' });
    const maker = createVariantMaker({ engine, keySecret: 'secret', publicObjects, limits });
    const asked = [{ transform: toTransform({ width: 1024, height: 1024 }) }];
    const look = async () => (await maker.ensure(objectSource(originals, 'photo.jpg'), asked))[0]?.key ?? '';
    const key = await look();
    const often = (work: () => Promise<unknown>) => async () => {
      for (let time = 0; time < 500; time++) await work();
    };
    const cpu = await compareCpu(40, {
      hit: { work: often(look) },
      head: { work: often(() => publicObjects.head(key)) },
    });
    return atMost(1.3, {
      goal: 'a hit',
      measured: cpu.ratio('hit', 'head'),
      against: 'an existence check of the store',
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
