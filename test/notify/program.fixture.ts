/** The notification service as a process of its own, to be killed, and a mail provider that counts what it took. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { queueNames } from '#notify/queue.ts';
import { newLanePlace, root } from '../acceptance/running.fixture.ts';
import { metricsAt } from '../agent/metrics.fixture.ts';
import { clockEnv } from '../clock.fixture.ts';
import { programEnv, programPath } from '../programs.fixture.ts';

export interface TakenMail {
  readonly to: string;
  /** Requests with the same idempotency key. */
  times: number;
  readonly bodies: Set<string>;
}

export interface KillableNotify {
  readonly url: string;
  /** By idempotency key. */
  readonly taken: ReadonlyMap<string, TakenMail>;
  /** `false`: the provider accepts mails and never responds. */
  answers: boolean;
  /** `clock`: by how much the clock of the process is wrong, as `faketime` writes it (`+2h`). */
  start(clock?: string): Promise<void>;
  /** The process itself, without the launcher, which would let it end in good order. */
  kill(): Promise<void>;
  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>;
  /** Resolves to the number of mails that wait or are on their way. */
  unsent(): Promise<number>;
  close(): Promise<void>;
}

export async function placeNotify(): Promise<KillableNotify> {
  const place = await newLanePlace();
  const taken = new Map<string, TakenMail>();
  let program: ChildProcess | undefined;
  const provider = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString('utf8');
    const key = String(request.headers['idempotency-key']);
    const seen = taken.get(key) ?? { times: 0, to: String(JSON.parse(body).to), bodies: new Set() };
    seen.times += 1;
    seen.bodies.add(body);
    taken.set(key, seen);
    if (notify.answers)
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id: key }));
  });
  await new Promise<void>((listening) => provider.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${place.portBase + 7}`;

  const notify: KillableNotify = {
    url,
    taken,
    answers: true,
    async start(clock) {
      const env = {
        ...programEnv,
        ...place.env,
        ...(clock === undefined ? {} : clockEnv(clock)),
        INTERNAL_KEY: 'key',
        RESEND_API_KEY: 'provider-key',
        RESEND_BASE_URL: `http://127.0.0.1:${(provider.address() as AddressInfo).port}`,
      };
      const child = spawn(process.execPath, [programPath, 'start', 'notify'], { cwd: root, env });
      program = child;
      for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
        if (String(chunk).includes('Atelier is ready')) break;
      }
      child.stdout.resume();
      child.stderr.resume();
    },
    async kill() {
      if (program === undefined || program.signalCode !== null || program.exitCode !== null) return;
      program.kill('SIGKILL');
      await once(program, 'exit');
    },
    post: (path, body, headers = {}) =>
      fetch(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-internal-key': 'key', ...headers },
        body: JSON.stringify(body),
      }),
    async unsent() {
      const metrics = await metricsAt(url);
      const counts = queueNames.flatMap((queue) =>
        ['waiting', 'running'].map((status) => metrics.value('jobs', { queue, status }) ?? Number.NaN),
      );
      return counts.reduce((sum, count) => sum + count, 0);
    },
    async close() {
      await notify.kill();
      provider.closeAllConnections();
      provider.close();
      await place.remove();
    },
  };
  return notify;
}
