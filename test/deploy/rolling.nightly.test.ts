/** Two processes behind the shipped nginx, replaced three times by deploy/host/upgrade under 200 runs, uploads and previews. */

import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import { newPlace, type Program, run } from '../acceptance/running.fixture.ts';
import { createMigratedDatabase, databaseEngines } from '../database.fixture.ts';
import { startTestIssuer } from '../platform/tokenissuer.fixture.ts';
import { freePortBase } from '../ports.fixture.ts';
import { skipWithout } from '../programs.fixture.ts';
import { skipWithoutRedis, startRedisServer } from '../redis.fixture.ts';
import { type NginxProxy, startProxy } from './proxy.fixture.ts';
import { upgradeEnvironment, upgradeScript, writeRelease } from './release.fixture.ts';

/** The text of a response, up to where its connection was cut. */
async function textOf({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const chunk of body ?? []) text += decoder.decode(chunk as Uint8Array, { stream: true });
  } catch {
    // The caller resumes.
  }
  return text;
}

const withoutPostgres = databaseEngines.some(({ name, missing }) => name === 'postgres' && missing);
const domain = 'atelier.test';
const filesDomain = 'atelier-files.test';
const runsAtOnce = 200;
/** A request without an end in this time hangs. */
const longestMs = 120_000;

describe.skipIf(withoutPostgres || skipWithoutRedis || skipWithout('nginx', 'openssl'))('upgrades under load', () => {
  const closers: (() => unknown)[] = [];
  let proxy: NginxProxy;
  let at: (service: string, path: string) => string;
  let place: Awaited<ReturnType<typeof newPlace>>;
  /** One for each run in progress, because starts and charges of one user wait for each other. */
  let tokens: readonly string[];
  let upgrade: (...words: readonly string[]) => Promise<string>;
  const programs = new Map<number, Program>();
  const commits = new Set<string>();
  let names: readonly string[];

  beforeAll(async () => {
    place = await newPlace();
    const other = await freePortBase();
    const [database, redis, issuer] = [
      await createMigratedDatabase(migrations),
      await startRedisServer(),
      await startTestIssuer(),
    ];
    closers.push(place.remove, database.drop, redis.close, issuer.close);
    const [httpPort, httpsPort] = [place.portBase + 8, place.portBase + 9];
    at = (service, path) => `https://${service}.${service === 'files' ? filesDomain : domain}:${httpsPort}${path}`;
    const env = {
      ATELIER_DATA_DIR: place.dataDir,
      DATABASE_URL: database.url,
      REDIS_URL: redis.url,
      JWKS_URL: issuer.jwksUrl,
      INTERNAL_KEY: 'a key of the tests',
      EDGE_URL: at('files', ''),
      AGENT_DRAIN_SECS: '20',
      STARTING_CREDITS: '100000',
    };
    tokens = await Promise.all(Array.from({ length: runsAtOnce }, () => issuer.token({ sub: randomUUID() })));
    const start = async (base: number) => {
      const program = run('start', [], { ...env, ATELIER_PORT_BASE: String(base) }, join(place.dataDir, 'opt/current'));
      programs.set(base, program);
      await program.waitFor('Atelier is ready', 280_000);
    };
    // As `systemctl restart`: it returns when the new process has begun.
    const control = createServer(async (request, response) => {
      const base = Number(request.url?.slice(1));
      const program = programs.get(base);
      program?.child.kill('SIGTERM');
      const code = await program?.ended(120_000);
      await start(base);
      response.end(String(code));
    }).listen(0, '127.0.0.1');
    await once(control, 'listening');
    closers.push(() => control.close());
    const script = join(place.dataDir, 'restart');
    const url = `http://127.0.0.1:${(control.address() as AddressInfo).port}`;
    await writeFile(script, `#!/bin/sh\nexec node -e "fetch('${url}/$1').then((r) => process.exit(r.ok ? 0 : 1))"\n`, {
      mode: 0o755,
    });
    await writeFile(
      join(place.dataDir, 'atelier.env'),
      // The doctor cannot resolve the names of the test, so it looks where nothing runs.
      Object.entries({ ...env, ATELIER_PORT_BASE: String(await freePortBase()) })
        .map(([name, value]) => `${name}="${value}"\n`)
        .join(''),
    );
    upgrade = async (...words) => {
      const bases = [...programs.keys()].join(' ') || ' ';
      const more = { ATELIER_RESTART: script, ATELIER_PROCESSES: bases, NODE_ENV: 'test' };
      const { stdout } = await promisify(execFile)(upgradeScript, words, {
        env: upgradeEnvironment(place.dataDir, more),
      }).catch(({ stdout, stderr }) => {
        throw new Error(`the upgrade failed:\n${stdout}${stderr}`);
      });
      return stdout;
    };
    const archives = ['aaaa', 'bbbb'].map((commit) => join(place.dataDir, `${commit}.tar`));
    names = [await writeRelease(archives[0] as string, 'aaaa'), await writeRelease(archives[1] as string, 'bbbb')];
    await upgrade(archives[0] as string);
    await start(place.portBase);
    await start(other);
    closers.push(() => [...programs.values()].map(({ child }) => child.kill('SIGKILL')));
    proxy = await startProxy({
      domain,
      filesDomain,
      httpPort,
      httpsPort,
      portBases: [place.portBase, other],
      clientLimit: 2048,
    });
    closers.push(proxy.close);
  }, 300_000);
  afterAll(async () => {
    for (const close of closers.reverse()) await close();
  });

  it('fails no request and loses no run', { timeout: 900_000 }, async () => {
    const failures: unknown[] = [];
    let cutStreams = 0;
    let mostCuts = 0;
    let uploads = 0;
    /** Both processes, by three switches. */
    const restarts = 6;
    const statuses = new Map<string, number>();
    let isOver = false;
    const send = async (service: string, path: string, init: RequestInit = {}, token = tokens[0]) => {
      const headers = { authorization: `Bearer ${token}`, ...init.headers };
      const response = await proxy.fetch(at(service, path), {
        ...init,
        headers,
        signal: AbortSignal.timeout(longestMs),
      });
      if (response.status >= 400) failures.push([path, response.status, (await response.clone().text()).slice(0, 200)]);
      return response;
    };
    const post = (service: string, path: string, json: object, token = tokens[0]) => {
      const headers = { 'content-type': 'application/json' };
      return send(service, path, { method: 'POST', body: JSON.stringify(json), headers }, token);
    };
    const read = async (taskId: string, token: string) => {
      // A process that ends cuts its streams. They resume where they were, as the client does, at most once for each restart.
      let lastId = '';
      for (let cuts = 0; cuts <= restarts; cuts++) {
        mostCuts = Math.max(mostCuts, cuts);
        const headers = lastId ? { 'last-event-id': lastId } : {};
        const response = await send('agent', `/stream/${taskId}`, { headers }, token);
        const text = await textOf(response);
        if (text.includes('data: [DONE]')) return;
        cutStreams += 1;
        lastId = [...text.matchAll(/^id: (.+)\n/gm)].at(-1)?.[1] ?? lastId;
      }
      failures.push(['stream', taskId, `cut more than ${restarts} times`]);
    };
    const start = async (token: string): Promise<string | undefined> => {
      const started = await post('agent', '/task', { threadId: randomUUID(), text: '/slow 20' }, token);
      return started.status === 201 ? String(Object(await started.json()).taskId) : undefined;
    };
    const chat = async (token: string, first: string | undefined) => {
      for (let taskId = first; taskId !== undefined; taskId = isOver ? undefined : await start(token)) {
        await read(taskId, token);
        const { status } = Object(await (await send('agent', `/task/${taskId}`, {}, token)).json());
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    };
    const picture = await sharp({ create: { width: 300, height: 200, channels: 3, background: '#3070a0' } })
      .png()
      .toBuffer();
    const upload = async () => {
      do {
        const scope = { scopeKind: 'thread', scopeId: 'x', kind: 'image', mime: 'image/png' };
        const reserved = (await (await post('media', '/v1/uploads', scope)).json()) as Record<string, never>;
        if (reserved.uploadUrl === undefined) continue;
        const put = await proxy.fetch(reserved.uploadUrl, {
          method: 'PUT',
          headers: reserved.headers ?? {},
          body: new Uint8Array(picture),
          signal: AbortSignal.timeout(longestMs),
        });
        if (put.status >= 300) {
          failures.push(['upload', put.status, await put.text()]);
          continue;
        }
        await put.arrayBuffer();
        uploads += 1;
        const { uploadUrl: _url, headers: _headers, expiresIn: _expires, ...registration } = reserved;
        const registered = await post('media', '/v1/assets', { ...scope, ...registration });
        if (registered.status >= 300) continue;
        const { assetId } = (await registered.json()) as { readonly assetId: string };
        const signed = (await (await post('media', '/v1/sign/image', { refs: [assetId] })).json()) as Record<
          string,
          { previewUrl: string }
        >;
        const previewUrl = signed[assetId]?.previewUrl;
        if (previewUrl === undefined) continue;
        const preview = await proxy.fetch(previewUrl, {
          signal: AbortSignal.timeout(longestMs),
        });
        await preview.arrayBuffer();
        if (preview.status !== 200) failures.push(['preview', preview.status]);
        await sleep(500);
      } while (!isOver);
    };
    const watchCommits = async () => {
      while (!isOver) {
        const body = (await (await send('agent', '/')).json()) as { readonly commit?: string };
        commits.add(String(body.commit));
        await sleep(500);
      }
    };
    const chats: Promise<void>[] = [];
    // Twenty at a time, as the load of 200 runs is steady and their starts are not.
    for (let at = 0; at < runsAtOnce; at += 20) {
      const some = tokens.slice(at, at + 20);
      const begun = await Promise.all(some.map(async (token) => ({ token, taskId: await start(token) })));
      chats.push(...begun.map(({ token, taskId }) => chat(token, taskId)));
    }
    const work = Promise.all([...chats, upload(), upload(), watchCommits()]);
    work.catch(() => undefined);
    try {
      expect(await upgrade(join(place.dataDir, 'bbbb.tar'))).toContain(`${names[1]} runs`);
      await upgrade('--back');
      expect(await upgrade(join(place.dataDir, 'bbbb.tar'))).toContain(`${names[1]} runs`);
    } finally {
      isOver = true;
    }
    await work;
    console.info(
      `runs by status: ${JSON.stringify([...statuses])}; ${uploads} uploads; ${cutStreams} cut streams, of one run ${mostCuts}`,
    );
    expect(failures).toEqual([]);
    expect([...statuses.keys()]).toEqual(['completed']);
    expect(statuses.get('completed')).toBeGreaterThanOrEqual(runsAtOnce);
    expect(await readFile(join(place.dataDir, 'atelier.env'), 'utf8')).toContain('DATABASE_URL');
  });
});
