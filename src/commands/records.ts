/**
 * The way of `credits` and `seed` to the shared records: through the running instance where it holds the embedded database,
 * else straight to the database (docs/specification/system.md#commands).
 */
import type { AccountTables } from '#accounts/store.ts';
import { addressesOf, type Config, readConfig, secretsOf } from '#app/config.ts';
import { createEngines } from '#app/engines.ts';
import type { Db } from '#platform/db/db.ts';
import { Closers, StartFault } from '#platform/lifecycle.ts';
import { createLog } from '#platform/log.ts';
import { Problem } from '#platform/problem.ts';
import { clientOfInstance, isEmbeddedInUse } from './instance.ts';

interface Deed<Result> {
  /** The same as a call of the authentication service … */
  readonly method: 'GET' | 'PUT' | 'POST';
  readonly path: string;
  readonly json?: unknown;
  /** … and here. */
  readonly here: (db: Db<AccountTables>, config: Config) => Promise<Result>;
}

/** What cannot be is a StartFault of one line. */
export async function onRecords<Result>(deed: Deed<Result>): Promise<Result> {
  // Nothing is started: the database alone has to be named.
  const config = readConfig(process.env, []);
  if (config.process.production && !process.env.DATABASE_URL)
    throw new StartFault('Configuration: missing in production: DATABASE_URL.');
  const closers = new Closers();
  try {
    if (isEmbeddedInUse(config)) return await throughInstance(config, closers, deed);
    const log = createLog({ level: 'error', secrets: secretsOf(config) });
    const database = await createEngines(config, log, closers).database();
    return await deed.here(database.queries<AccountTables>(), config);
  } catch (error) {
    if (error instanceof Problem) throw new StartFault(error.message, { cause: error });
    throw error;
  } finally {
    await closers.closeAll();
  }
}

async function throughInstance<Result>(config: Config, closers: Closers, deed: Deed<Result>): Promise<Result> {
  const client = clientOfInstance(config, closers, { service: 'auth', timeoutMs: 10_000 });
  const { auth: baseUrl } = addressesOf(config);
  const { method, path, json = method === 'GET' ? undefined : {} } = deed;
  const call = { method, path, route: path.split('?')[0] ?? path, json, idempotent: true };
  const answer = await client.send(call).catch((cause: Error) => {
    throw new StartFault(`The data folder is in use, but the authentication service at ${baseUrl} does not answer.`, {
      cause,
    });
  });
  const body = answer.json();
  if (answer.status < 300) return body as Result;
  const { message = 'no reason given' } = body as { readonly message?: string };
  throw new StartFault(`The authentication service answered ${answer.status}: ${message}`);
}
