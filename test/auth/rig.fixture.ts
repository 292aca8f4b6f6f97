/** The authentication service and the local identity provider on ports of their own, for the tests. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AccountTables } from '#accounts/store.ts';
import { migrations } from '#app/migrations.ts';
import { type AuthDeps, createAuth } from '#auth/service.ts';
import type { AuthTables } from '#auth/tables.ts';
import type { Operation } from '#local/idp/faults.ts';
import { createIdentityProvider } from '#local/idp/service.ts';
import { systemClock } from '#platform/clock.ts';
import type { Database, Db } from '#platform/db/db.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { createJobs } from '#platform/jobs/queueing.ts';
import { createLog } from '#platform/log.ts';
import { openTestDatabase } from '../database.fixture.ts';
import { freePort } from '../ports.fixture.ts';

export const origin = 'https://app.example.com';
export const otherOrigin = 'https://studio.example.com';
const secret = 'the secret of the local provider';
export const anonKey = 'the anon key';

export interface Fault {
  readonly operation: Operation;
  readonly kind: 'answer' | 'reset' | 'hang' | 'half' | 'slow' | 'lost';
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  readonly delayMs?: number;
  readonly times?: number;
}

export interface AuthRig {
  readonly url: string;
  readonly idpUrl: string;
  readonly database: Database;
  readonly db: Db<AuthTables>;
  readonly accounts: Db<AccountTables>;
  readonly lines: readonly string[];
  fault(fault: Fault): Promise<void>;
  wellAgain(): Promise<void>;
  calls(): Promise<Record<Operation, number>>;
  /** Another process of the same service, as far as one process can show it: same database, nothing else shared. */
  another(changes?: Partial<AuthDeps>): Promise<HttpServer & { readonly url: string }>;
  /** Closes it and opens it again on its port. */
  restart(changes?: Partial<AuthDeps>): Promise<void>;
  restartProvider(): Promise<void>;
  close(): Promise<void>;
}

interface RigOptions {
  readonly database?: () => Promise<Database>;
  readonly changes?: Partial<AuthDeps>;
  readonly reuseIntervalS?: number;
}

export async function startAuth(options: RigOptions = {}): Promise<AuthRig> {
  const dataDir = await mkdtemp(join(tmpdir(), 'atelier-auth-'));
  const database = await (options.database ?? (() => openTestDatabase(migrations)))();
  const [authPort, idpPort] = [await freePort(), await freePort()];
  const [url, idpUrl] = [`http://localhost:${authPort}`, `http://localhost:${idpPort}`];
  const lines: string[] = [];
  const log = createLog({ level: 'info', destination: { write: (line) => void lines.push(line) } });

  const openProvider = async () => {
    const idp = await createIdentityProvider({
      server: { log },
      clock: systemClock,
      settings: { secret },
      dataDir,
      database,
      publicUrl: idpUrl,
      redirectUrls: [
        `${url}/callback`,
        `${url}/callback?state=*`,
        ...(options.changes?.publicUrl ? [`${options.changes.publicUrl}/callback`] : []),
      ],
      anonKey,
      ...(options.reuseIntervalS === undefined ? {} : { reuseIntervalS: options.reuseIntervalS }),
    });
    await idp.listen({ port: idpPort, host: '127.0.0.1' });
    return idp;
  };
  const openAuth = async (port: number, changes: Partial<AuthDeps> = {}) => {
    const auth = await createAuth({
      server: { log, readiness: { database: () => database.check() } },
      clock: systemClock,
      database,
      jobs: createJobs({ database, log, pollEveryMs: 50, isSoleProcess: false }),
      publicUrl: url,
      allowedOrigins: [origin, otherOrigin, 'http://localhost:3000'],
      defaultOrigin: origin,
      cookieSecrets: ['a first secret'],
      provider: { url: idpUrl, anonKey, socialProvider: 'google', returnsState: true },
      ...options.changes,
      ...changes,
    });
    await auth.listen({ port, host: '127.0.0.1' });
    return auth;
  };
  let idp = await openProvider();
  let auth = await openAuth(authPort);
  const others: HttpServer[] = [];
  const local = (method: string, body?: unknown) =>
    fetch(`${idpUrl}/local/faults`, {
      method,
      headers: { 'x-local-secret': secret, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  return {
    url,
    idpUrl,
    database,
    db: database.queries<AuthTables>(),
    accounts: database.queries<AccountTables>(),
    lines,
    fault: async (fault) => {
      const answer = await local('POST', fault);
      if (answer.status !== 204) throw new Error(await answer.text());
    },
    wellAgain: async () => void (await local('DELETE')),
    calls: async () => ((await (await local('GET')).json()) as { calls: Record<Operation, number> }).calls,
    another: async (changes) => {
      const port = await freePort();
      const server = await openAuth(port, changes);
      others.push(server);
      return Object.assign(server, { url: `http://localhost:${port}` });
    },
    restart: async (changes) => {
      await auth.close();
      auth = await openAuth(authPort, changes);
    },
    restartProvider: async () => {
      await idp.close();
      idp = await openProvider();
    },
    close: async () => {
      await Promise.all([auth.close(), idp.close(), ...others.map((server) => server.close())]);
      await database.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Until it holds; what is waited for happens beside the requests. */
export async function eventually(holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 1000; tries++) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error('it did not come about');
}
