/**
 * Redis for tests: the server at `REDIS_TEST_URL`, with a prefix per opening that is emptied on close. If it does not
 * respond, or the program is not installed (Redis in a container), its suites are skipped, or fail with CI=true.
 * `startRedisServer` starts a server that a test may stop.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLog } from '#platform/log.ts';
import { openRedis } from '#platform/redis/open.ts';
import type { Redis } from '#platform/redis/redis.ts';
import type { Certificate } from './certificate.fixture.ts';
import { freePort } from './ports.fixture.ts';

export const redisUrl = process.env.REDIS_TEST_URL || 'redis://127.0.0.1:6379';

const quiet = createLog({ level: 'silent' });

const serverProgram = 'redis-server';
const isInstalled = spawnSync(serverProgram, ['--version'], { stdio: 'ignore' }).error === undefined;
export const skipWithoutRedis = process.env.CI !== 'true' && !(isInstalled && (await answers(redisUrl)));

export async function openTestRedis({ url = redisUrl, prefix = `test:${randomUUID()}:` } = {}): Promise<Redis> {
  const redis = await openRedis({ url, prefix, log: quiet });
  return {
    ...redis,
    // Copying the object would evaluate a getter only once.
    get serverRun() {
      return redis.serverRun;
    },
    get isWritable() {
      return redis.isWritable;
    },
    close: () => removeKeys(redis).finally(() => redis.close()),
  };
}

async function removeKeys(redis: Redis): Promise<void> {
  await redis.run(async (client) => {
    for await (const keys of client.scanIterator({ MATCH: `${redis.prefix}*`, COUNT: 1000 }))
      if (keys.length > 0) await client.unlink(keys);
  }, 5000);
}

async function answers(url: string): Promise<boolean> {
  try {
    const redis = await openRedis({ url, prefix: '', log: quiet });
    await redis.close();
    return true;
  } catch {
    return false;
  }
}

export interface RedisServer {
  readonly url: string;
  pid(): number | undefined;
  /** Sends a signal to the server in its current state. */
  signal(name: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): void;
  /** Restarts on the same port with the saved data. Resolves when the server responds. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/** Starts a separate server on a free port; with a certificate, for TLS only. `program`: that of Redis or Valkey. */
export async function startRedisServer(certificate?: Certificate, program = serverProgram): Promise<RedisServer> {
  const folder = await mkdtemp(join(tmpdir(), 'atelier-redis-'));
  const port = await freePort();
  const url = `${certificate === undefined ? 'redis' : 'rediss'}://127.0.0.1:${port}`;
  const listening = certificate === undefined ? ['--port', String(port)] : tlsOptions(port, certificate);
  let child: ChildProcess;
  const start = async () => {
    child = spawn(program, [...listening, '--bind', '127.0.0.1', '--dir', folder, '--save', ''], {
      stdio: 'ignore',
    });
    await once(child, 'spawn');
    while (!(await answers(url))) await sleep(50);
  };
  await start();
  return {
    url,
    pid: () => child.pid,
    signal: (name) => void child.kill(name),
    start,
    close: async () => {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function tlsOptions(port: number, { certificateFile, keyFile }: Certificate): string[] {
  const files = ['--tls-cert-file', certificateFile, '--tls-key-file', keyFile, '--tls-ca-cert-file', certificateFile];
  return ['--port', '0', '--tls-port', String(port), '--tls-auth-clients', 'no', ...files];
}
