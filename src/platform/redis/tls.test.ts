/** A server that is reached by TLS and an ACL user only. */
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeCertificate } from '../../../test/certificate.fixture.ts';
import { skipWithout } from '../../../test/programs.fixture.ts';
import { openTestRedis, type RedisServer, startRedisServer } from '../../../test/redis.fixture.ts';
import { createLog } from '../log.ts';
import { openRedis, probeRedis } from './open.ts';

describe.skipIf(skipWithout('redis-server', 'openssl'))('Redis over TLS', () => {
  const known = getCACertificates('default');
  let folder: string;
  let server: RedisServer;
  let url: string;
  const trust = (file: string) => setDefaultCACertificates([...known, readFileSync(file, 'utf8')]);

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'atelier-tls-'));
    const files = { certificateFile: join(folder, 'certificate.pem'), keyFile: join(folder, 'key.pem') };
    makeCertificate(['IP:127.0.0.1'], files);
    trust(files.certificateFile);
    server = await startRedisServer(files);
    const admin = await openTestRedis({ url: server.url });
    // As docs/cache.md gives them.
    const rights = ['~atelier:*', '&atelier:*', '+@all', '-@dangerous', '+info'];
    await admin.run((client) => client.sendCommand(['ACL', 'SETUSER', 'app', 'on', '>p@ss word', ...rights]));
    await admin.run((client) => client.sendCommand(['ACL', 'SETUSER', 'default', 'off']));
    url = server.url.replace('//', `//app:${encodeURIComponent('p@ss word')}@`);
  });
  afterAll(async () => {
    await server?.close();
    setDefaultCACertificates(known);
    await rm(folder, { recursive: true, force: true });
  });

  const open = (at = url) => openRedis({ url: at, prefix: 'atelier:tls:', log: createLog({ level: 'silent' }) });

  it('runs commands, delivers messages, and waits for streams', async () => {
    const redis = await open();
    const heard: string[] = [];
    redis.listen('atelier:tls:c', { onMessage: (message) => heard.push(message), onGap: () => undefined });
    await redis.run((client) => client.set('atelier:tls:a', '1'));
    expect(await redis.run((client) => client.get('atelier:tls:a'))).toBe('1');
    await expect
      .poll(async () => {
        await redis.run((client) => client.publish('atelier:tls:c', 'hello'));
        return heard;
      })
      .toContain('hello');
    const blocking = await redis.openBlocking('test');
    await redis.run((client) => client.xAdd('atelier:tls:s', '1-1', { f: 'first' }));
    const found = await blocking.client()?.xRead({ key: 'atelier:tls:s', id: '0' }, { BLOCK: 200 });
    expect(JSON.stringify(found)).toContain('first');
    await blocking.close();
    await redis.close();
  });

  it('is probed', async () => {
    expect(await probeRedis(url, 'atelier:doctor:')).toMatchObject({ refusal: undefined });
  });

  it.each([
    ['a wrong password', () => url.replace('word', 'wrong')],
    ['no user', () => server.url],
    ['no TLS', () => url.replace('rediss:', 'redis:')],
  ])('refuses %s in one line without the password', async (_title, at) => {
    await expect(open(at())).rejects.toThrow(
      /^Configuration: REDIS_URL: Redis does not respond \((?!.*p(@|%40)ss).+\)\.$/,
    );
  });

  it('refuses a server whose certificate is not trusted', async () => {
    setDefaultCACertificates(known);
    await expect(open()).rejects.toThrow(/^Configuration: REDIS_URL: Redis does not respond \(.*certificate.*\)\.$/);
  });
});
