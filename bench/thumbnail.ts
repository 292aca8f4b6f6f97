/**
 * A cold variant against `vipsthumbnail`, libvips' own program (Debian: libvips-tools): the same photo, size, quality and encoder
 * settings, each on one thread. The service reads the source from its store, writes the variant to it and answers over HTTP.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
// The engine's own copy.
import sharp from '../node_modules/sharp/dist/index.mjs';
import { atMost, type Bench, median, type Row } from './bench.ts';
import { makePhoto, post, type Service, startProcess } from './image.ts';

const rounds = 11;
const side = 1024;
const quality = 80;
/** The start of Node is shared by as many images as a short batch has. */
const filesOfProcess = 8;
const run = promisify(execFile);

/** The encoder settings of the service, in the words of libvips. */
const settings = {
  jpeg: `[Q=${quality},optimize_coding,strip]`,
  png: '[compression=6,filter=none,strip]',
  webp: `[Q=${quality},effort=4,strip]`,
} as const;
type Format = keyof typeof settings;

interface Spent {
  readonly wallMs: number;
  readonly cpuMs: number;
}

export const thumbnail: Bench = {
  async *run() {
    const folder = mkdtempSync(join(tmpdir(), 'bench-thumbnail-'));
    const source = join(folder, 'objects', 'photo.jpg');
    mkdirSync(join(folder, 'objects'));
    writeFileSync(source, (await makePhoto()).jpeg);
    const service = await startProcess('image-service.ts', folder);
    try {
      for (const format of Object.keys(settings) as Format[]) {
        yield* await overHttp(service, source, format);
        yield* await asProcess(source, format);
      }
    } finally {
      service.child.disconnect();
      rmSync(folder, { recursive: true });
    }
  },
};

async function overHttp(service: Service, source: string, format: Format): Promise<Row[]> {
  const ours = async () => {
    await post(service, '/v1/forget', {});
    return spend(service.cpuMs, () =>
      post(service, '/v1/ensure', { specs: [{ name: 'v', width: side, height: side, quality, format }] }),
    );
  };
  const bare = () => spend(ofChildren, () => runVips([source], format));
  return compare(`cold ${format} over HTTP`, ours, bare);
}

async function asProcess(source: string, format: Format): Promise<Row[]> {
  const sources = Array.from({ length: filesOfProcess }, () => source);
  const program = fileURLToPath(new URL('thumbnail-process.ts', import.meta.url));
  const args = [program, String(side), String(quality), format, `${source}.ours`, ...sources];
  const ours = () => spend(ofChildren, () => run(process.execPath, args));
  const bare = () => spend(ofChildren, () => runVips(sources, format));
  await Promise.all([ours(), bare()]);
  const outputs = [`${source}.ours`, source.replace('.jpg', `.small.${format}`)];
  const [one, other] = await Promise.all(outputs.map((file) => sharp(file).metadata()));
  if (one === undefined || one.width !== side || one.height !== other?.height || one.format !== other.format)
    throw new Error(`the outputs in ${format} differ`);
  return compare(`${filesOfProcess} of ${format} in one process`, ours, bare);
}

const runVips = (sources: readonly string[], format: Format) =>
  run(
    'vipsthumbnail',
    [...sources, '--size', `${side}x${side}>`, '--output', `%s.small.${format}${settings[format]}`],
    {
      env: { ...process.env, VIPS_CONCURRENCY: '1' },
    },
  );

/** The two take turns. The first round fills the caches of files and compiles code. */
async function compare(goal: string, ours: () => Promise<Spent>, bare: () => Promise<Spent>): Promise<Row[]> {
  const pairs: [Spent, Spent][] = [];
  for (let round = -1; round < rounds; round++) {
    const isOursFirst = round % 2 === 0;
    const first = await (isOursFirst ? ours() : bare());
    const second = await (isOursFirst ? bare() : ours());
    if (round >= 0) pairs.push(isOursFirst ? [first, second] : [second, first]);
  }
  const ratio = (what: keyof Spent) => median(pairs.map(([one, other]) => one[what] / other[what]));
  return (['wallMs', 'cpuMs'] as const).map((what) =>
    atMost(1, {
      goal: `${goal}, 12 MP to ${side} px, by ${what === 'wallMs' ? 'time' : 'processor'}`,
      measured: ratio(what),
      against: 'vipsthumbnail',
    }),
  );
}

async function spend(cpuMs: () => number | Promise<number>, work: () => Promise<unknown>): Promise<Spent> {
  const [startedAt, cpuBefore] = [performance.now(), await cpuMs()];
  await work();
  const wallMs = performance.now() - startedAt;
  return { wallMs, cpuMs: (await cpuMs()) - cpuBefore };
}

/** Processor time of ended children, in the ticks of Linux: hundredths of a second. */
function ofChildren(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[13]) + Number(fields[14])) * 10;
}
