/** The running program behind a Redis pair that switches its primary and leaves every connection open. */
import { createClient } from '@redis/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newLanePlace, type Place, type Program, run } from '../acceptance/running.fixture.ts';
import { startTestIssuer } from '../platform/tokenissuer.fixture.ts';
import { type RedisServer, skipWithoutRedis, startRedisServer } from '../redis.fixture.ts';
import { startTcpFront, type TcpFront } from '../tcpfront.fixture.ts';

const patience = { timeout: 30_000, interval: 100 };

describe.skipIf(skipWithoutRedis)('a Redis pair behind one name', () => {
  let servers: readonly [RedisServer, RedisServer];
  let front: TcpFront;
  let place: Place;
  let program: Program;
  let issuer: Awaited<ReturnType<typeof startTestIssuer>>;
  beforeAll(async () => {
    [servers, issuer, place] = await Promise.all([
      Promise.all([startRedisServer(), startRedisServer()]),
      startTestIssuer(),
      newLanePlace(),
    ]);
    front = await startTcpFront(servers[0].url);
    const settings = { REDIS_URL: front.urlOf(servers[0].url), JWKS_URL: issuer.jwksUrl };
    program = run('start', ['media', 'agent', 'memory', 'edge'], { ...place.env, ...settings });
    await program.waitFor('Atelier is ready');
  }, 120_000);
  afterAll(async () => {
    program?.child.kill('SIGKILL');
    await program?.ended();
    await front?.close();
    for (const server of servers ?? []) await server.close();
    await place?.remove();
    await issuer?.close();
  });

  async function command({ url }: RedisServer, ...words: readonly string[]): Promise<string> {
    const client = await createClient({ url }).connect();
    try {
      return String(await client.sendCommand([...words]));
    } finally {
      client.destroy();
    }
  }

  async function follow(replica: RedisServer, primary: RedisServer): Promise<void> {
    const { hostname, port } = new URL(primary.url);
    await command(replica, 'REPLICAOF', hostname, port);
    await expect.poll(() => command(replica, 'INFO', 'replication'), patience).toContain('master_link_status:up');
  }

  const at = (offset: number, path: string) => `http://127.0.0.1:${place.portBase + offset}${path}`;
  /** The services that use Redis. */
  const readiness = () =>
    Promise.all(
      [1, 4].map(async (offset) => {
        const { engines } = (await (await fetch(at(offset, '/ready'))).json()) as { engines: { redis: string } };
        return engines.redis;
      }),
    );
  const connectionsTo = async (server: RedisServer) =>
    (await command(server, 'CLIENT', 'LIST')).split('\n').filter((line) => line.includes(' name=atelier')).length;

  it('is switched: /ready is ok again without a restart, and runs stream on', { timeout: 120_000 }, async () => {
    const authorization = `Bearer ${await issuer.token({ sub: '6f1f3a52-8d0c-4f5e-9c86-0c3a6f3f4a10' })}`;
    const answer = async (threadId: string) => {
      const headers = { authorization, 'content-type': 'application/json' };
      const body = JSON.stringify({ threadId, text: 'Hello' });
      const started = await fetch(at(4, '/task'), { method: 'POST', headers, body });
      const { taskId } = (await started.json()) as { taskId: string };
      expect(started.status).toBe(201);
      return (await fetch(at(4, `/stream/${taskId}`), { headers })).text();
    };
    await follow(servers[1], servers[0]);
    expect(await answer('before')).toContain('"type":"finish"');
    expect(await readiness()).toEqual(['ok', 'ok']);
    const count = await connectionsTo(servers[0]);
    expect(count).toBeGreaterThan(0);

    await command(servers[1], 'REPLICAOF', 'NO', 'ONE');
    front.switchTo(servers[1].url);
    await follow(servers[0], servers[1]);
    await expect.poll(() => Promise.all(servers.map(connectionsTo)), patience).toEqual([0, count]);
    await expect.poll(readiness, patience).toEqual(['ok', 'ok']);
    expect(await answer('after')).toContain('"type":"finish"');
  });
});
