/** The keys that sign the identity of users for MCP servers. */
import type { JWK } from 'jose';
import { type Generated, type JSONColumnType, sql } from 'kysely';
import { type Db, holdName, transaction } from '#platform/db/db.ts';

export interface SigningKeyTables {
  agent_signing_keys: { kid: string; private_key: JSONColumnType<JWK>; created_at: Generated<Date> };
}

/** Newest first. */
export async function listKeys(db: Db<SigningKeyTables>): Promise<readonly JWK[]> {
  const rows = await db.selectFrom('agent_signing_keys').select('private_key').orderBy('created_at', 'desc').execute();
  return rows.map(({ private_key }) => private_key);
}

/** Does nothing if another process has inserted a key. */
export async function insertFirstKey(db: Db<SigningKeyTables>, key: JWK): Promise<void> {
  await transaction(db, async (tx) => {
    await holdName(tx, 'agent signing keys');
    await sql`
      insert into agent_signing_keys (kid, private_key)
      select ${key.kid}, ${JSON.stringify(key)}::jsonb where not exists (select from agent_signing_keys)`.execute(tx);
  });
}
