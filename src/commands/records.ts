/**
 * How `credits`, `seed` and `audit` access the records: through the running instance if it holds the embedded database, otherwise
 * directly (docs/specification/system.md#commands).
 */
import type { PeopleTables } from '#accounts/people/peoplestore.ts';
import type { Welcome } from '#accounts/store.ts';
import { type Config, readConfig, secretsOf } from '#app/config.ts';
import { createEngines } from '#app/engines.ts';
import type { Db } from '#platform/db/db.ts';
import { Closers, StartFault } from '#platform/lifecycle.ts';
import { createLog } from '#platform/log.ts';
import { Problem } from '#platform/problem.ts';
import { welcomeOf } from '#webhooks/publishing.ts';
import { isEmbeddedInUse, serviceOfInstance } from './instance.ts';

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
    if (isEmbeddedInUse(config)) {
      const { method, path, json = method === 'GET' ? undefined : {} } = action;
      const auth = serviceOfInstance(config, closers, { service: 'auth', timeoutMs: 10_000 });
      return (await auth.send<Result>({ method, path, json })).body;
    }
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
