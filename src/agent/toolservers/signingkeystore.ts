/** The keys that sign the identity of users for MCP servers. */
import type { Generated } from 'kysely';
import type { Db, Tx } from '#platform/db/db.ts';

export interface SigningKeyTables {
  /** `sealed_key`: the private key as a JWK. */
  agent_signing_keys: { kid: string; sealed_key: string; created_at: Generated<Date> };
}

/** Newest first. */
export async function listSealedKeys(db: Db<SigningKeyTables>): Promise<readonly string[]> {
  const rows = await db.selectFrom('agent_signing_keys').select('sealed_key').orderBy('created_at', 'desc').execute();
  return rows.map(({ sealed_key }) => sealed_key);
}

export async function insertKey(tx: Tx<SigningKeyTables>, kid: string, sealedKey: string): Promise<void> {
  await tx.insertInto('agent_signing_keys').values({ kid, sealed_key: sealedKey }).execute();
}
