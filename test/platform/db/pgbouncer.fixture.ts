/** PgBouncer in front of a test database, as Debian's package has it: nothing but the pool mode is set. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../ports.fixture.ts';
import { unprivileged } from './unprivileged.fixture.ts';

const program = '/usr/sbin/pgbouncer';
export const skipWithoutPgBouncer = process.env.CI !== 'true' && !existsSync(program);

export type PoolMode = 'session' | 'transaction';

export interface PgBouncer {
  /** Of a database behind it. */
  urlOf(databaseUrl: string): string;
  close(): Promise<void>;
}

export async function startPgBouncer(
  serverUrl: string,
  poolMode: PoolMode,
  more: readonly string[] = [],
): Promise<PgBouncer> {
  const { hostname, port: serverPort, username } = new URL(serverUrl);
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'atelier-pgbouncer-'));
  const settings = join(folder, 'pgbouncer.ini');
  const lines = [
    '[databases]',
    `* = host=${hostname} port=${serverPort || 5432} user=${username || 'postgres'}`,
    '[pgbouncer]',
    `listen_addr = 127.0.0.1\nlisten_port = ${port}\nunix_socket_dir =\nauth_type = any\npool_mode = ${poolMode}`,
    ...more,
  ];
  await writeFile(settings, `${lines.join('\n')}\n`);
  const { uid, gid } = unprivileged();
  if (uid !== undefined && gid !== undefined)
    await Promise.all([folder, settings].map((path) => chown(path, uid, gid)));
  const child = spawn(program, [settings], { stdio: 'ignore', uid, gid });
  await untilListening(child, port);
  return {
    urlOf: (databaseUrl) => `postgres://postgres@127.0.0.1:${port}${new URL(databaseUrl).pathname}`,
    close: async () => {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function untilListening(child: ChildProcess, port: number): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`PgBouncer ended with ${child.exitCode}`);
    const socket = connect({ host: '127.0.0.1', port });
    try {
      await once(socket, 'connect');
      return;
    } catch {
      await sleep(20);
    } finally {
      socket.destroy();
    }
  }
}
