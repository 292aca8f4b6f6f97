/** The cost of `npm start` before the first request: the time until all services are healthy, and the memory while idle. */
import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { newPlace, type Place, run as runProgram } from '../test/acceptance/running.fixture.ts';
import { atMost, type Bench, median } from './bench.ts';

const rounds = 5;
/** Of the eleven services: console, the seven, edge and the two stand-ins. */
const portOffsets = [0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12];
/** What a start leaves behind is collected by then. */
const idleAfterMs = 5000;
/** Also of the first one, which makes the database. */
const startLimitMs = 600_000;

interface Started {
  readonly tookMs: number;
  readonly idleBytes: number;
}

export const start: Bench = {
  run: async () => {
    const place = await newPlace();
    const folder = mkdtempSync(join(tmpdir(), 'bench-start-'));
    const ours: Started[] = [];
    const bare: Started[] = [];
    const alone: Started[] = [];
    try {
      // The first round makes the databases: only the others are warm.
      for (let round = -1; round < rounds; round++) {
        const taken = [await startOurs(place), await startBare(folder, portOffsets.length), await startBare(folder, 0)];
        if (round >= 0) for (const [index, list] of [ours, bare, alone].entries()) list.push(taken[index] as Started);
      }
    } finally {
      await place.remove();
      rmSync(folder, { recursive: true });
    }
    const middle = (started: readonly Started[], what: keyof Started) => median(started.map((one) => one[what]));
    return [
      atMost(2, {
        goal: 'warm start until all services are healthy, by time',
        measured: middle(ours, 'tookMs') / middle(bare, 'tookMs'),
        against: `opening bare PGlite and ${portOffsets.length} bare listeners`,
      }),
      atMost(2, {
        goal: 'resident memory of everything, idle, the launcher included',
        measured: middle(ours, 'idleBytes') / middle(alone, 'idleBytes'),
        against: 'PGlite alone in a process',
      }),
      atMost(260, {
        goal: 'the same in MiB',
        measured: middle(ours, 'idleBytes') / 1024 ** 2,
        against: 'a limit',
      }),
    ];
  },
};

async function startOurs({ env, portBase }: Place): Promise<Started> {
  const startedAt = performance.now();
  const program = runProgram('start', [], { ...env, LOG_LEVEL: 'warn' });
  try {
    await program.waitFor('Atelier is ready', startLimitMs);
    for (const offset of portOffsets) {
      const { status } = await fetch(`http://127.0.0.1:${portBase + offset}/health`);
      if (status !== 200) throw new Error(`port ${portBase + offset} answers ${status}`);
    }
    return await settle(program.child.pid, startedAt);
  } finally {
    program.child.kill('SIGTERM');
    await program.ended(startLimitMs);
  }
}

async function startBare(folder: string, listeners: number): Promise<Started> {
  const startedAt = performance.now();
  const child = fork(fileURLToPath(new URL('start-bare.ts', import.meta.url)), [folder, String(listeners)], {
    // Where it is the memory that is compared.
    execArgv: listeners === 0 ? ['--expose-gc'] : [],
  });
  try {
    const [ports] = (await once(child, 'message')) as [readonly number[]];
    for (const port of ports) await fetch(`http://127.0.0.1:${port}/health`);
    return await settle(child.pid, startedAt);
  } finally {
    child.disconnect();
    await once(child, 'exit');
  }
}

async function settle(pid: number | undefined, startedAt: number): Promise<Started> {
  const tookMs = performance.now() - startedAt;
  await sleep(idleAfterMs);
  return { tookMs, idleBytes: residentBytes(pid) };
}

/** Of a process and its children. */
function residentBytes(pid: number | undefined): number {
  const processes = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,rss='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number));
  const kilobytes = processes
    .filter(([id, parent]) => id === pid || parent === pid)
    .reduce((sum, [, , resident = 0]) => sum + resident, 0);
  return kilobytes * 1024;
}
