/** A process is killed between the acceptance of a mail and its delivery, again and again (docs/specification/notify.md#idempotency). */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { newPlace, type Place, root } from '../acceptance/running.fixture.ts';

const rounds = 5;
const sendsPerRound = 20;

let place: Place;
let provider: Server;
let program: ChildProcess | undefined;
/** What the provider took, by idempotency key: how often it was asked, and for whom. */
const asked = new Map<string, { times: number; to: string; bodies: Set<string> }>();
let answers = false;

beforeEach(async () => {
  place = await newPlace();
  asked.clear();
  provider = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString('utf8');
    const key = String(request.headers['idempotency-key']);
    const seen = asked.get(key) ?? { times: 0, to: String(JSON.parse(body).to), bodies: new Set() };
    seen.times += 1;
    seen.bodies.add(body);
    asked.set(key, seen);
    // The first time it takes the mail and never says so: whoever sent it dies waiting.
    if (answers) response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id: key }));
  });
  await new Promise<void>((listening) => provider.listen(0, '127.0.0.1', listening));
});
afterEach(async () => {
  await kill();
  provider.closeAllConnections();
  provider.close();
  await place.remove();
});

/** The process itself, without the launcher, which would let it end in good order. */
async function start(): Promise<void> {
  const env = {
    PATH: process.env.PATH,
    ...place.env,
    INTERNAL_KEY: 'key',
    RESEND_API_KEY: 'provider-key',
    RESEND_BASE_URL: `http://127.0.0.1:${(provider.address() as AddressInfo).port}`,
  };
  const child = spawn(process.execPath, [join(root, 'src/main.ts'), 'start', 'notify'], { cwd: root, env });
  program = child;
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    if (String(chunk).includes('Atelier is ready')) break;
  }
  child.stdout.resume();
  child.stderr.resume();
}

async function kill(): Promise<void> {
  if (program === undefined || program.signalCode !== null || program.exitCode !== null) return;
  program.kill('SIGKILL');
  await once(program, 'exit');
}

const send = (to: string, key: string) =>
  fetch(`http://127.0.0.1:${place.portBase + 7}/emails`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-internal-key': 'key', 'idempotency-key': key },
    body: JSON.stringify({ from: 'a@example.com', to, subject: 'Hello', text: 'Hello' }),
  });

it(`${rounds * sendsPerRound} accepted mails: each goes out, under one key, the same at every try`, async () => {
  const expected: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    answers = false;
    await start();
    const before = new Set([...asked.values()].map(({ to }) => to));
    const pending = Array.from({ length: sendsPerRound }, (_, turn) => {
      const name = `r${round}s${turn}`;
      expected.push(`${name}@example.com`);
      return send(`${name}@example.com`, name).catch(() => undefined);
    });
    // Accepted: the provider has been asked, so the rows are there.
    await expect
      .poll(() => [...asked.values()].filter(({ to }) => !before.has(to) && to.startsWith(`r${round}`)).length, {
        timeout: 20_000,
      })
      .toBe(sendsPerRound);
    await kill();
    await Promise.all(pending);
  }
  answers = true;
  await start();
  // A repeat joins what the crash left, and the rest goes out by itself.
  const repeated = await send('r0s0@example.com', 'r0s0');
  expect(repeated.status).toBe(200);
  await expect
    .poll(() => [...asked.values()].filter(({ times }) => times > 1).length, { timeout: 90_000, interval: 500 })
    .toBe(expected.length);
  await sleep(1000);
  const sends = [...asked.values()];
  expect(sends.map(({ to }) => to).sort()).toEqual(expected.sort());
  expect(sends.every(({ bodies }) => bodies.size === 1)).toBe(true);
}, 300_000);
