/** `POST /refresh` against the same call made straight to the provider, 32 sessions at once. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import { createSealer } from '../src/platform/access/sealing.ts';
import { atMost, type Bench, median, type Row } from './bench.ts';

const sessionsAtOnce = 32;
const callsEach = 30;
const rounds = 7;
/** Thousands of calls: until then it is the compiler that is measured. */
const warmUpRounds = 4;
/**
 * What a hosted provider takes for a refresh on a good day, its database and the way there included. Not always the same:
 * else all sessions would come back in one burst after the other.
 */
const providerMs = { least: 40, most: 60 };

export const refresh: Bench = {
  run: async () => {
    const provider = await start(fileURLToPath(import.meta.url), []);
    const service = await start(fileURLToPath(new URL('refresh-service.ts', import.meta.url)), [provider.url]);
    try {
      return await compare(service.url, provider.url);
    } finally {
      service.child.stdin?.end();
      await once(service.child, 'exit');
      provider.child.kill();
    }
  },
};

async function start(file: string, args: readonly string[]): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [file, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [port] = await once(child.stdout.setEncoding('utf8'), 'data');
  return { child, url: `http://127.0.0.1:${port}` };
}

/** One call of a session, which leads on to the next. */
type Session = () => Promise<void>;

async function compare(serviceUrl: string, providerUrl: string): Promise<Row[]> {
  const [ours, theirs] = [serviceUrl, providerUrl].map((url) => new Pool(url, { connections: sessionsAtOnce }));
  if (ours === undefined || theirs === undefined) throw new Error('no pools');
  const sealer = createSealer(['a secret of the benchmark'], 'session');
  const ratios: number[] = [];
  for (let round = -warmUpRounds; round < rounds; round++) {
    const straight = await medianLatencyMs(async () => straightSession(theirs));
    const through = await medianLatencyMs(async () => sealedSession(ours, sealer.seal(randomUUID())));
    if (round >= 0) ratios.push(through / straight);
  }
  await Promise.all([ours.close(), theirs.close()]);
  return [
    atMost(1.15, {
      goal: `POST /refresh, ${sessionsAtOnce} sessions at once, by latency`,
      measured: median(ratios),
      against: `the same call straight to the provider, which takes ${providerMs.least} to ${providerMs.most} ms`,
    }),
  ];
}

async function medianLatencyMs(open: () => Promise<Session>): Promise<number> {
  const sessions = await Promise.all(Array.from({ length: sessionsAtOnce }, open));
  const latencies = await Promise.all(
    sessions.map(async (call) => {
      const taken: number[] = [];
      for (let count = 0; count < callsEach; count++) {
        const startedAt = performance.now();
        await call();
        taken.push(performance.now() - startedAt);
      }
      return taken;
    }),
  );
  return median(latencies.flat());
}

function straightSession(pool: Pool): Session {
  let token: string = randomUUID();
  return async () => {
    const { statusCode, body } = await pool.request({
      method: 'POST',
      path: '/auth/v1/token?grant_type=refresh_token',
      headers: { 'content-type': 'application/json', apikey: 'anon', authorization: 'Bearer anon' },
      body: JSON.stringify({ refresh_token: token }),
    });
    const answer = (await body.json()) as { refresh_token: string };
    if (statusCode !== 200) throw new Error(`the provider answered ${statusCode}`);
    token = answer.refresh_token;
  };
}

function sealedSession(pool: Pool, sealed: string): Session {
  let cookie = `ka_session=${sealed}`;
  return async () => {
    const { statusCode, headers, body } = await pool.request({
      method: 'POST',
      path: '/refresh',
      headers: { origin: 'https://app.example.com', cookie },
    });
    await body.dump();
    if (statusCode !== 200) throw new Error(`/refresh answered ${statusCode}`);
    cookie = String(headers['set-cookie']).split(';')[0] ?? '';
  };
}

/** As its own process: a provider that takes its time and rotates, over GoTrue's wire. */
if (import.meta.main) {
  const part = (length: number) => 'x'.repeat(length);
  const server = createServer(async (request, response) => {
    request.resume();
    await sleep(providerMs.least + Math.random() * (providerMs.most - providerMs.least));
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({
        access_token: `${part(120)}.${part(600)}.${part(86)}`,
        token_type: 'bearer',
        expires_in: 3600,
        expires_at: Math.floor(Date.now() / 1000) + 3600,
        refresh_token: randomUUID(),
        user: { id: randomUUID(), email: 'ada@example.com' },
      }),
    );
  });
  server.listen(0, '127.0.0.1', () => process.stdout.write(String((server.address() as AddressInfo).port)));
  process.stdin.resume().once('end', () => process.exit());
}
