/** The embedded engine: PGlite, one instance in one process, in a folder or in memory. */
import { PGlite, type PGliteOptions, type Transaction } from '@electric-sql/pglite';
import { Kysely, sql } from 'kysely';
import type { Database } from './db.ts';
import { createDialect, type Engine, type SessionResult } from './dialect.ts';
import { translateError } from './errors.ts';
import { createGate } from './gate.ts';
import { applyMigrations, type Migration } from './migrations.ts';
import { parsers } from './types.ts';

export interface PgliteOptions {
  /** A folder; `undefined`: in memory. */
  readonly folder: string | undefined;
  readonly migrations: readonly Migration[];
}

/** One connection, and a statement that runs blocks the event loop: the queue is the only deadline there can be. */
const gateOptions = { width: 1, maxWaiting: 1_000, waitTimeoutMs: 5_000 };

export async function openPglite(options: PgliteOptions): Promise<Database> {
  const lite = await createPglite({ dataDir: options.folder });
  try {
    await migratePglite(lite, options.migrations);
  } catch (error) {
    await lite.close();
    throw error;
  }
  const kysely = new Kysely<object>({ dialect: createDialect(createEngine(lite), createGate(gateOptions)) });
  return {
    driver: 'pglite',
    queries: <Tables>() => kysely as unknown as Kysely<Tables>,
    check: async () => {
      await sql`select 1`.execute(kysely);
    },
    close: () => kysely.destroy(),
  };
}

export function createPglite(options: PGliteOptions): Promise<PGlite> {
  return PGlite.create({ ...options, parsers: { ...parsers } });
}

export async function migratePglite(lite: PGlite, migrations: readonly Migration[]): Promise<readonly string[]> {
  return lite.transaction((tx: Transaction) =>
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

function createEngine(lite: PGlite): Engine {
  const query = async (text: string, parameters: readonly unknown[]): Promise<SessionResult> => {
    try {
      // As pg does: without parameters the simple protocol, which takes several statements.
      const result = parameters.length === 0 ? (await lite.exec(text)).at(-1) : await lite.query(text, [...parameters]);
      return { rows: result?.rows ?? [], command: result?.command, affectedRows: result?.affectedRows };
    } catch (error) {
      throw translateError(error);
    }
  };
  return {
    connect: async () => ({
      query,
      release: () => {
        // The one connection stays.
      },
    }),
    close: () => lite.close(),
  };
}
