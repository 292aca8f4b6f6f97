/**
 * pgvector on a PostgreSQL server. It may be in any schema, the role may not be allowed to create it, or the server may
 * not have it. Without it, the memory service computes similarities in its own process.
 */
import type { MigrationSession } from './migrations.ts';

export interface Pgvector {
  readonly version: string;
  readonly schema: string;
}

/** `undefined`: the database does not have the extension. */
export async function findPgvector(session: MigrationSession): Promise<Pgvector | undefined> {
  const [found] = await session.query<Pgvector>(
    `select extversion as version, nspname as schema from pg_extension
     join pg_namespace on pg_namespace.oid = extnamespace where extname = 'vector'`,
    [],
  );
  return found;
}

export type PgvectorState = Pgvector | { readonly missing: string };

/** Creates the extension where that is possible. Outside of a transaction, because the attempt may fail. */
export async function ensurePgvector(session: MigrationSession): Promise<PgvectorState> {
  const found = await findPgvector(session);
  if (found !== undefined) return found;
  try {
    await session.run('create extension if not exists vector');
  } catch (error) {
    // Another process may have created it at the same time.
    const created = await findPgvector(session);
    return created ?? { missing: error instanceof Error ? error.message : String(error) };
  }
  return (await findPgvector(session)) ?? { missing: 'the extension is not visible' };
}

/** What the next start would find. Changes nothing. */
export async function examinePgvector(session: MigrationSession): Promise<PgvectorState> {
  const found = await findPgvector(session);
  if (found !== undefined) return found;
  const [available] = await session.query<{ permitted: boolean }>(
    `select bool_or(rolsuper or not superuser or
       (trusted and has_database_privilege(current_database(), 'CREATE'))) as permitted
     from pg_available_extension_versions, pg_roles
     where name = 'vector' and rolname = current_user having count(*) > 0`,
    [],
  );
  if (available === undefined) return { missing: 'the server does not have it' };
  return {
    missing: available.permitted
      ? 'the next start creates it'
      : 'this role may not create it; an administrator can run `create extension vector` in this database',
  };
}

/** Lets the rest of a transaction name the type `vector` without its schema. */
export async function makeVisible(session: MigrationSession, { schema }: Pgvector): Promise<void> {
  await session.query(
    `select set_config('search_path', current_setting('search_path') || ', ' || quote_ident($1), true)`,
    [schema],
  );
}

export function describePgvector(state: PgvectorState): string {
  if ('missing' in state)
    return `pgvector is not used (${state.missing}), so the memory service computes similarities in its process`;
  return `pgvector ${state.version} in the schema ${state.schema} computes similarities`;
}
