/** The embedded engine: PGlite, PostgreSQL in this process. */
import { PGlite, type PGliteOptions } from '@electric-sql/pglite';
import type { Database } from './db.ts';
import { createDatabase, type SessionResult } from './dialect.ts';
import { translateError } from './errors.ts';
import { applyMigrations, type Migration } from './migrations.ts';
import { parsers, refuseBareJson } from './types.ts';

/** One connection, and a running statement blocks the event loop: the wait for a turn is the only deadline to be had. */
const gateOptions = { width: 1, maxWaiting: 1_000, waitTimeoutMs: 5_000 };

export function createPglite(options: PGliteOptions): Promise<PGlite> {
  return PGlite.create({
    ...options,
    parsers: { ...parsers },
    serializers: { 114: refuseBareJson, 3802: refuseBareJson },
  });
}

export async function migratePglite(lite: PGlite, migrations: readonly Migration[]): Promise<void> {
  await lite.transaction((tx) =>
    applyMigrations(
      {
        run: async (text) => {
          await tx.exec(text);
        },
        query: async <Row>(text: string, parameters: readonly unknown[]) =>
          (await tx.query<Row>(text, [...parameters])).rows,
      },
      migrations,
    ),
  );
}

/** From now on nothing else may use `lite`: transactions are plain statements on its one connection. */
export function pgliteDatabase(lite: PGlite, afterClose: () => void): Database {
  const query = async (text: string, parameters: readonly unknown[]): Promise<SessionResult> => {
    try {
      // As pg does: without parameters the simple protocol, which takes several statements.
      const result = parameters.length === 0 ? (await lite.exec(text)).at(-1) : await lite.query(text, [...parameters]);
      return { rows: result?.rows ?? [], command: result?.command, affectedRows: result?.affectedRows };
    } catch (error) {
      throw translateError(error);
    }
  };
  const release = (): void => {
    // The one connection stays.
  };
  const session = { lost: false, query, release };
  const close = async (): Promise<void> => {
    await lite.close();
    afterClose();
  };
  return createDatabase('pglite', { connect: async () => session, close }, gateOptions);
}
