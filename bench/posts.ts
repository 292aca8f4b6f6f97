/** A small POST of each service against a bare route with the same checks and the same operation, by the server's CPU time. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import { atMost, type Bench, type Row } from './bench.ts';
import { compareCpu } from './rounds.ts';

export interface Sent {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** What both routes must return; 200 by default. */
  readonly status?: number;
}

const services = ['media', 'memory', 'agent', 'notify', 'content', 'image'] as const;
export type Service = (typeof services)[number];

export interface Post extends Sent {
  readonly ports: { readonly ours: number; readonly bare: number };
}

const rounds = 21;
const warmUpRounds = 15;
const callsPerRound = 500;
const atOnce = 8;

export const posts: Bench = {
  async *run() {
    for (const service of services) yield await compareIn(service);
  },
};

/** In a process of its own: what others have made the compiler believe of shared code is not measured. */
async function compareIn(service: Service): Promise<Row> {
  const child = fork(fileURLToPath(new URL('./posts-service.ts', import.meta.url)), [service]);
  try {
    const [post] = (await once(child, 'message')) as [Post];
    const cpuMs = async () => {
      const answered = once(child, 'message');
      child.send('cpu');
      return (await answered)[0] as number;
    };
    return await compare(service, post, cpuMs);
  } finally {
    child.disconnect();
  }
}

async function compare(service: Service, post: Post, cpuMs: () => Promise<number>): Promise<Row> {
  const pools = { ours: open(post.ports.ours), bare: open(post.ports.bare) };
  const statuses = await Promise.all([call(pools.ours, post), call(pools.bare, post)]);
  const { status: expected = 200 } = post;
  if (statuses.some((status) => status !== expected))
    throw new Error(`${post.path} returns ${statuses[0]}, the bare route ${statuses[1]}, not ${expected}`);
  const cases = {
    ours: { cpuMs, work: () => callOften(pools.ours, post) },
    bare: { cpuMs, work: () => callOften(pools.bare, post) },
  };
  const cpu = await compareCpu(rounds, cases, warmUpRounds);
  await Promise.all([pools.ours.close(), pools.bare.close()]);
  return atMost(1.3, {
    goal: `${service}: POST ${post.path.replace(/[?].*|[0-9a-f-]{36}/, '…')}, by processor time`,
    measured: cpu.ratio('ours', 'bare'),
    against: 'a bare route with the same checks and the same deed',
  });
}

const open = (port: number) => new Pool(`http://127.0.0.1:${port}`, { connections: atOnce });

async function callOften(pool: Pool, post: Post): Promise<void> {
  let left = callsPerRound;
  const callOn = async () => {
    while (left-- > 0) await call(pool, post);
  };
  await Promise.all(Array.from({ length: atOnce }, callOn));
}

async function call(pool: Pool, { path, headers, body }: Post): Promise<number> {
  const answer = await pool.request({
    method: 'POST',
    path,
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    body: body === undefined ? null : JSON.stringify(body),
  });
  await answer.body.dump();
  return answer.statusCode;
}
