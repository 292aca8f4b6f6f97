/**
 * Watermarking a 3 s video of 720p, from object to object, against bare ffmpeg with the same filter and the same options:
 * what the fetching, probing, bounding and storing around it add.
 */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { constants, setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { migrations } from '../src/app/migrations.ts';
import type { MediaTables } from '../src/media/assets/assetstore.ts';
import { brandVideo } from '../src/media/video/branding.ts';
import { createFfmpeg, type Ffmpeg } from '../src/media/video/ffmpeg.ts';
import { probeVideo } from '../src/media/video/probing.ts';
import { makeVideoWatermark, type WatermarkJob } from '../src/media/watermarks/videowatermark.ts';
import type { Job } from '../src/platform/jobs/jobs.ts';
import { openTestDatabase } from '../test/database.fixture.ts';
import { openFiles } from '../test/media/registering.fixture.ts';
import { atMost, type Bench, median, type Row } from './bench.ts';
import { ownCpuMs } from './rounds.ts';

/** Many: what ffmpeg takes differs by a tenth from one run to the next. */
const rounds = 31;
const run = promisify(execFile);
const { signal } = new AbortController();

export const videoWatermark: Bench = { name: 'video watermark', run: measure };

async function measure(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'atelier-bench-'));
  const database = await openTestDatabase(migrations);
  try {
    const file = join(folder, 'source.mp4');
    const inputs = ['testsrc2=size=1280x720:rate=30:duration=3,format=yuv420p', 'sine=duration=3'];
    const sources = inputs.flatMap((source) => ['-f', 'lavfi', '-i', source]);
    await run('ffmpeg', ['-v', 'error', ...sources, '-c:v', 'libx264', '-preset', 'ultrafast', '-c:a', 'aac', file]);
    const bare = await argsOf(file, folder);
    const objects = openFiles(folder);
    const ffmpeg = createFfmpeg('ffmpeg');
    await ffmpeg.check();

    const spent: { readonly ours: Spent; readonly theirs: Spent }[] = [];
    for (let round = 0; round < rounds; round++) {
      const storageKey = `u/${randomUUID()}.mp4`;
      await objects.put(storageKey, createReadStream(file), { contentType: 'video/mp4' });
      const job = jobOf({ backend: 'objects', bucket: objects.bucket, storageKey });
      const deps = { objects, legacy: { bucket: () => undefined }, ffmpeg, db: database.queries<MediaTables>() };
      const [makeOurs, makeTheirs] = [() => makeVideoWatermark(deps, job), () => runBare(bare)];
      // Each goes first in turn.
      const earlier = round % 2 === 0 ? await spentOn(makeOurs) : undefined;
      const theirs = await spentOn(makeTheirs);
      spent.push({ ours: earlier ?? (await spentOn(makeOurs)), theirs });
    }
    // Of each pair, as the two met nearly the same machine.
    const ratios = (kind: keyof Spent) => spent.map(({ ours, theirs }) => ours[kind] / theirs[kind]);
    const goal = 'watermark of a 3 s video of 720p';
    const against = 'bare ffmpeg, same filter';
    return [
      atMost(1.1, { goal: `${goal} (time)`, measured: median(ratios('ms')), against }),
      ...(process.platform === 'linux'
        ? [atMost(1.1, { goal: `${goal} (processor time)`, measured: median(ratios('cpuMs')), against })]
        : []),
    ];
  } finally {
    await database.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** What ffmpeg is called with, the mark written to its file. */
async function argsOf(file: string, folder: string): Promise<readonly string[]> {
  let told: readonly string[] = [];
  const ffmpeg = createFfmpeg('ffmpeg');
  const recording: Ffmpeg = {
    ...ffmpeg,
    run: async (args) => {
      told = args;
    },
  };
  const facts = await probeVideo(ffmpeg, file, signal);
  await brandVideo(recording, { file, facts }, { mark: join(folder, 'mark'), into: join(folder, 'bare.mp4') }, signal);
  return told;
}

function jobOf(payload: WatermarkJob): Job<WatermarkJob> {
  return { jobId: randomUUID(), payload, attempt: 1, isLastAttempt: true, signal, complete: async () => undefined };
}

/** As the service runs it, behind whatever else the machine does: otherwise a busy one is measured, not the work. */
async function runBare(args: readonly string[]): Promise<void> {
  const running = run('ffmpeg', ['-v', 'error', '-nostdin', '-y', ...args]);
  setPriority(Number(running.child.pid), constants.priority.PRIORITY_BELOW_NORMAL);
  await running;
}

interface Spent {
  readonly ms: number;
  readonly cpuMs: number;
}

async function spentOn(work: () => Promise<unknown>): Promise<Spent> {
  const [startedAt, before] = [performance.now(), await familyCpuMs()];
  await work();
  return { ms: performance.now() - startedAt, cpuMs: (await familyCpuMs()) - before };
}

/** Of this process and of its children that have ended (`proc_pid_stat(5)`: cutime and cstime, in hundredths of a second). */
async function familyCpuMs(): Promise<number> {
  const stat = await readFile('/proc/self/stat', 'utf8').catch(() => '');
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(13, 15);
  return (await ownCpuMs()) + 10 * (Number(user ?? 0) + Number(system ?? 0));
}
