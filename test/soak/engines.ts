/** Separate engines for the soak that it can break: a PostgreSQL cluster on a small disk, and a Redis server. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync } from 'node:fs';
import { chmod, chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from '../ports.fixture.ts';
import { startRedisServer } from '../redis.fixture.ts';

export interface Postgres {
  readonly port: number;
  /** Drops all connections at once, as in a crash. Resolves when the server responds again. */
  restart(): Promise<void>;
  /** Fills the disk for some seconds. `undefined`: the disk is not the cluster's own, as mounting needs root. */
  readonly fillDisk: ((seconds: number) => Promise<void>) | undefined;
  close(): Promise<void>;
}

const diskMiB = 768;
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
  const isMounted = user !== undefined && mount(folder);
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
    const options = ['max_connections=80', 'max_wal_size=64MB', 'min_wal_size=32MB'].flatMap((option) => [
      '-c',
      option,
    ]);
    const args = ['-D', cluster, '-p', String(port), '-k', folder, ...options];
    const child = spawn(join(dirname(initdb), 'postgres'), args, { ...user, cwd: folder, stdio: 'ignore' });
    while (!(await answers(url))) {
      if (child.exitCode !== null) throw new Error(`PostgreSQL ended with ${child.exitCode}.`);
      await sleep(100);
    }
    return child;
  };
  let server = await start();
  const stop = async () => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'exit');
    // "Immediate" mode: no notice to clients, and recovery from the log at the next start.
    server.kill('SIGQUIT');
    await ended;
  };
  const restart = async () => {
    await stop();
    await sleep(1000);
    server = await start();
  };
  const fillDisk = async (seconds: number) => {
    const filler = join(folder, 'filler');
    // More than there is: `dd` ends when the disk is full.
    const writing = spawn('dd', ['if=/dev/zero', `of=${filler}`, 'bs=1M', `count=${diskMiB}`], { stdio: 'ignore' });
    await once(writing, 'exit');
    await sleep(seconds * 1000);
    await rm(filler);
    // PostgreSQL may have ended, as it does when it cannot write its log.
    if (!(await answers(url))) await restart();
  };
  return {
    port,
    restart,
    fillDisk: isMounted ? fillDisk : undefined,
    close: async () => {
      await stop();
      if (isMounted) execFileSync('umount', [folder]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Gives the folder a disk of its own in memory. Returns false if this is not allowed. */
function mount(folder: string): boolean {
  const options = ['-t', 'tmpfs', '-o', `size=${diskMiB}m`, 'tmpfs', folder];
  return spawnSync('mount', options, { stdio: 'ignore' }).status === 0;
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
  readonly port: number;
  /** Restarts without its data. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

export async function startRedis(): Promise<LossyRedis> {
  const server = await startRedisServer();
  return {
    port: Number(new URL(server.url).port),
    restart: async () => {
      server.signal('SIGKILL');
      await sleep(1000);
      await server.start();
    },
    close: server.close,
  };
}
