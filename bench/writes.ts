/** Calls that write, on PostgreSQL and files: their processor time, and its ratio to a bare route with the same rows and files. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import { atMost, type Bench, type Row } from './bench.ts';
import { compareCpu } from './rounds.ts';

/** A call, and the most that it may cost. */
interface Goal {
  readonly call: string;
  /** Milliseconds of processor time. */
  readonly cpuMs: number;
  /** To the bare route, which looks for nothing else, such as similar memories or variants. */
  readonly ratio: number;
}

const goals = {
  copy: { call: 'copy an asset', cpuMs: 2.2, ratio: 2 },
  deletion: { call: 'delete an asset', cpuMs: 2.75, ratio: 3 },
  memory: { call: 'add a memory', cpuMs: 3.6, ratio: 4 },
  email: { call: 'send an email', cpuMs: 1.6, ratio: 1.5 },
} as const satisfies Readonly<Record<string, Goal>>;
export type Write = keyof typeof goals;
const writeNames = Object.keys(goals) as readonly Write[];

export type Way = 'ours' | 'bare';

/** What the measured process sends when its routes are open. */
export interface Opened {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly ports: Readonly<Record<Way, number>>;
}

/** Requests bodies for calls from the measured process, and what these calls use up; or its CPU time. */
export type Order = { readonly bodies: number; readonly way: Way } | 'cpu';

const rounds = 15;
/** V8 has compiled a call after some 900. */
const warmUpRounds = 12;
const callsPerRound = 80;
const atOnce = 8;

export const writes: Bench = {
  async *run() {
    for (const name of writeNames) yield* await measure(name);
  },
};

/** Each in a process of its own, so that V8 does not compile shared functions for the general case. */
async function measure(name: Write): Promise<Row[]> {
  const child = fork(fileURLToPath(new URL('./writes-service.ts', import.meta.url)), [name]);
  const opening = once(child, 'message');
  try {
    const [opened] = (await opening) as [Opened];
    const request = async <Answer>(order: Order) => {
      const answered = once(child, 'message');
      child.send(order);
      return (await answered)[0] as Answer;
    };
    const cpuMs = () => request<number>('cpu');
    const caseOf = (way: Way) => {
      let bodies: readonly unknown[] = [];
      return {
        cpuMs,
        prepare: async () => {
          bodies = await request<readonly unknown[]>({ bodies: callsPerRound, way });
        },
        work: () => callAll(opened, way, bodies),
      };
    };
    const cpu = await compareCpu(rounds, { ours: caseOf('ours'), bare: caseOf('bare') }, warmUpRounds);
    const goal = goals[name];
    return [
      atMost(goal.cpuMs, {
        goal: `${goal.call}, ms of processor time`,
        measured: cpu.median('ours') / callsPerRound,
        against: 'half of what it took before',
      }),
      atMost(goal.ratio, {
        goal: `${goal.call}, by processor time`,
        measured: cpu.ratio('ours', 'bare'),
        against: 'a bare route with the same rows and files',
      }),
    ];
  } finally {
    child.disconnect();
  }
}

async function callAll(opened: Opened, way: Way, bodies: readonly unknown[]): Promise<void> {
  const { method, path, headers, ports } = opened;
  const pool = new Pool(`http://127.0.0.1:${ports[way]}`, { connections: atOnce });
  const left = [...bodies];
  const callOn = async () => {
    for (let body = left.pop(); body !== undefined; body = left.pop()) {
      const answer = await pool.request({
        method: method as 'POST' | 'DELETE',
        path,
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      const text = await answer.body.text();
      if (answer.statusCode >= 300) throw new Error(`${way} ${path} returns ${answer.statusCode}: ${text}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, callOn));
  await pool.close();
}
