/** Separate engines for the soak that it can break: a PostgreSQL cluster, a Redis server, and a network in front of the S3 server. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync } from 'node:fs';
import { chmod, chown, mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { freePort, startRedisServer } from '../redis.fixture.ts';

export interface Postgres {
  readonly url: string;
  /** Drops all connections at once, as in a crash. Resolves when the server responds again. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

const initdb = globSync('/usr/lib/postgresql/*/bin/initdb').at(-1);

/** Returns what the soak needs and this machine lacks. If empty, it can run. */
export function whatIsMissing(): readonly string[] {
  const hasRedis = (process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, 'redis-server')));
  return [
    ...(initdb === undefined ? ['PostgreSQL'] : []),
    ...(hasRedis ? [] : ['redis-server']),
    ...(process.env.S3_TEST_ENDPOINT ? [] : ['an S3 server (S3_TEST_ENDPOINT)']),
  ];
}

export async function startPostgres(): Promise<Postgres> {
  if (initdb === undefined) throw new Error('There is no PostgreSQL on this machine.');
  const folder = await mkdtemp(join(tmpdir(), 'atelier-soak-postgres-'));
  // PostgreSQL does not run as root.
  const user = process.getuid?.() === 0 ? idOf('postgres') : undefined;
  if (user) {
    await chmod(folder, 0o755);
    await chown(folder, user.uid, user.gid);
  }
  const cluster = join(folder, 'cluster');
  const run = (program: string, args: readonly string[]) =>
    execFileSync(join(dirname(initdb), program), args, { ...user, cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  run('initdb', ['-A', 'trust', '-U', 'postgres', '-D', cluster]);
  const port = await freePort();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const start = async () => {
    const args = ['-D', cluster, '-p', String(port), '-k', folder, '-c', 'max_connections=80'];
    const child = spawn(join(dirname(initdb), 'postgres'), args, { ...user, cwd: folder, stdio: 'ignore' });
    while (!(await answers(url))) {
      if (child.exitCode !== null) throw new Error(`PostgreSQL ended with ${child.exitCode}.`);
      await sleep(100);
    }
    return child;
  };
  let server = await start();
  const stop = async () => {
    const ended = once(server, 'exit');
    // "Immediate" mode: no notice to clients, and recovery from the log at the next start.
    server.kill('SIGQUIT');
    await ended;
  };
  return {
    url,
    restart: async () => {
      await stop();
      await sleep(1000);
      server = await start();
    },
    close: async () => {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function idOf(user: string): { readonly uid: number; readonly gid: number } {
  const id = (flag: string) => Number(execFileSync('id', [flag, user], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

export interface LossyRedis {
  readonly url: string;
  /** Restarts without its data. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

export async function startRedis(): Promise<LossyRedis> {
  const server = await startRedisServer();
  return {
    url: server.url,
    restart: async () => {
      server.signal('SIGKILL');
      await sleep(1000);
      await server.start();
    },
    close: server.close,
  };
}

export interface Network {
  readonly url: string;
  /** Cuts every connection and rejects new ones. */
  cut(): void;
  mend(): void;
  close(): Promise<void>;
}

/** A TCP proxy to a server that can be cut. */
export async function layNetwork(target: URL): Promise<Network> {
  const port = await freePort();
  const open = new Set<Socket>();
  let isCut = false;
  const server = createServer((near) => {
    if (isCut) return near.destroy();
    const far = connect(Number(target.port || 80), target.hostname);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        open.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
    return near;
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const destroyAll = () => {
    for (const socket of open) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${port}`,
    cut: () => {
      isCut = true;
      destroyAll();
    },
    mend: () => {
      isCut = false;
    },
    close: async () => {
      server.close();
      destroyAll();
      await once(server, 'close');
    },
  };
}
