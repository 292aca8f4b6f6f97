/**
 * How `credits`, `seed` and `audit` access the records: through the running instance if it holds the embedded database, otherwise
 * directly (docs/specification/system.md#commands).
 */
import type { PeopleTables } from '#accounts/people/peoplestore.ts';
import type { Welcome } from '#accounts/store.ts';
import { addressesOf, type Config, readConfig, secretsOf } from '#app/config.ts';
import { createEngines } from '#app/engines.ts';
import type { Db } from '#platform/db/db.ts';
import { Closers, StartFault } from '#platform/lifecycle.ts';
import { createLog } from '#platform/log.ts';
import { Problem } from '#platform/problem.ts';
import { welcomeOf } from '#webhooks/publishing.ts';
import { clientOfInstance, isEmbeddedInUse } from './instance.ts';

interface RecordsAction<Result> {
  /** The action as a call of the authentication service. */
  readonly method: 'GET' | 'PUT' | 'POST';
  readonly path: string;
  readonly json?: unknown;
  /** The same action in this process. */
  readonly locally: (db: Db<PeopleTables>, config: Config, welcome: Welcome) => Promise<Result>;
}

/** Throws StartFault with one line if the action is not possible. */
export async function onRecords<Result>(action: RecordsAction<Result>): Promise<Result> {
  // No service starts, so only the database must be configured.
  const config = readConfig(process.env, []);
  if (config.process.production && !process.env.DATABASE_URL)
    throw new StartFault('Configuration: missing in production: DATABASE_URL.');
  const closers = new Closers();
  try {
    if (isEmbeddedInUse(config)) return await throughInstance(config, closers, action);
    const log = createLog({ level: 'error', secrets: secretsOf(config) });
    const engines = createEngines(config, log, closers);
    const db = (await engines.database()).queries<PeopleTables>();
    return await action.locally(db, config, welcomeOf(await engines.publisher(), config.process.startingCredits));
  } catch (error) {
    if (error instanceof Problem) throw new StartFault(error.message, { cause: error });
    throw error;
  } finally {
    await closers.closeAll();
  }
}

async function throughInstance<Result>(
  config: Config,
  closers: Closers,
  action: RecordsAction<Result>,
): Promise<Result> {
  const client = clientOfInstance(config, closers, { service: 'auth', timeoutMs: 10_000 });
  const { auth: baseUrl } = addressesOf(config);
  const { method, path, json = method === 'GET' ? undefined : {} } = action;
  const call = { method, path, route: path.split('?')[0] ?? path, json, idempotent: true };
  const response = await client.send(call).catch((cause: Error) => {
    throw new StartFault(`The data folder is in use, but the authentication service at ${baseUrl} is not responding.`, {
      cause,
    });
  });
  const body = response.json();
  if (response.status < 300) return body as Result;
  const { message = 'no reason given' } = body as { readonly message?: string };
  throw new StartFault(`The authentication service returned ${response.status}: ${message}`);
}
