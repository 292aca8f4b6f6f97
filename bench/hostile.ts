/**
 * 50 hostile connections of each kind against the whole product with its default limits, in one process on the embedded engines: how
 * late another user gets an answer.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { newPlace, run as runProgram } from '../test/acceptance/running.fixture.ts';
import { makeImage } from '../test/media/images.fixture.ts';
import { atMost, type Bench, type Row } from './bench.ts';
import { type Account, openCaller, openHostile, type Send, type Urls, urlsOf } from './hostileaccount.ts';
import { type Kind, kinds } from './hostilekinds.ts';

const connections = 50;
const attackMs = 8000;
/** Until the connections of an attack are open. */
const openingMs = 1000;
const pauseMs = 100;
const startLimitMs = 600_000;

export const hostile: Bench = {
  async *run(part) {
    const place = await newPlace();
    const folder = await mkdtemp(join(tmpdir(), 'bench-hostile-'));
    const program = runProgram('start', [], { ...place.env, LOG_LEVEL: 'warn' });
    try {
      await program.waitFor('Atelier is ready', startLimitMs);
      const urls = urlsOf(place.portBase);
      const attacker = await openHostile(urls, folder);
      const other = await openOther(urls);
      const quiet = await measure(other);
      let isRefused = false;
      for (const kind of kinds.filter(({ name }) => name.includes(part))) {
        const row = await measureAttack(kind, attacker, other, quiet);
        isRefused ||= row.measured === Number.POSITIVE_INFINITY;
        yield row;
      }
      // Why calls were refused.
      if (isRefused) console.error(program.output());
    } finally {
      program.child.kill('SIGTERM');
      await program.ended(startLimitMs);
      await place.remove();
      await rm(folder, { recursive: true });
    }
  },
};

/** The slowest response of a request. */
interface Slowest {
  readonly request: string;
  readonly seconds: number;
}

/** Another user. */
interface Other {
  /** Makes each of its calls once. Throws for a status that is not 2xx. */
  use(): Promise<void>;
  /** Since the last call of it. */
  takeSlowest(): Slowest;
}

async function openOther(urls: Urls): Promise<Other> {
  let slowest: Slowest = { request: 'none', seconds: 0 };
  const send: Send = async (url, init) => {
    const beganAt = performance.now();
    const response = await fetch(url, init);
    const seconds = (performance.now() - beganAt) / 1000;
    const path = new URL(url).pathname.split('/').slice(0, 3).join('/');
    if (seconds > slowest.seconds) slowest = { request: `${init?.method ?? 'GET'} ${path.slice(0, 20)}`, seconds };
    return response;
  };
  const fetchAll = async (url: string, init?: RequestInit) => {
    const response = await send(url, init);
    const bytes = await response.arrayBuffer();
    if (!response.ok) throw new Error(`${url} returned ${response.status}: ${Buffer.from(bytes)}`);
  };
  const other = await openCaller(urls, 'other@example.com', send);
  const { call, upload, userId, credential } = other;
  const ref = await upload(await makeImage('png', { width: 600 }), 'image', 'image/png');
  const entity = { entity_id: userId, entity_type: 'user' };
  const threadId = `other-${randomUUID()}`;
  const messages = [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }];
  const chat = {
    method: 'POST',
    headers: { ...credential, 'content-type': 'application/json' },
    body: JSON.stringify({ id: threadId, messages }),
  };
  let uses = 0;
  return {
    use: async () => {
      uses += 1;
      await fetchAll(`${urls.content}/op/announcement`);
      await call('media', 'POST', '/v1/sign/image', { refs: [ref] });
      await upload(await makeImage('png', { seed: uses }), 'image', 'image/png');
      // A new variant each time.
      const { url } = await call<{ url: string }>('media', 'POST', '/v1/fit', { ref, width: 20 + (uses % 500) });
      await fetchAll(url);
      await call('memory', 'POST', '/memory/search', { ...entity, query: 'bees' });
      await call('agent', 'GET', '/threads?q=bees');
      await call('agent', 'GET', `/messages/${threadId}?limit=10`);
      await fetchAll(`${urls.agent}/chat`, chat);
    },
    takeSlowest: () => {
      const taken = slowest;
      slowest = { request: 'none', seconds: 0 };
      return taken;
    },
  };
}

/** A call that is refused counts as never answered. */
async function measure(other: Other): Promise<Slowest> {
  other.takeSlowest();
  for (const endsAt = performance.now() + attackMs; performance.now() < endsAt; ) {
    try {
      await other.use();
    } catch (error) {
      console.error(error);
      return { request: 'refused', seconds: Number.POSITIVE_INFINITY };
    }
    await sleep(pauseMs);
  }
  return other.takeSlowest();
}

async function measureAttack(kind: Kind, attacker: Account, other: Other, quiet: Slowest): Promise<Row> {
  const over = new AbortController();
  const attack = Array.from({ length: connections }, async (_, index) => {
    while (!over.signal.aborted) {
      await kind.connection(attacker, index, over.signal).catch(() => sleep(pauseMs));
    }
  });
  try {
    await sleep(openingMs);
    const { request, seconds } = await measure(other);
    return atMost(2, {
      goal: `${connections} × ${kind.name}: slowest answer to another user (${request}), s`,
      measured: seconds,
      against: `without an attack ${quiet.seconds.toFixed(2)} s (${quiet.request})`,
    });
  } finally {
    over.abort();
    await Promise.all(attack);
  }
}
