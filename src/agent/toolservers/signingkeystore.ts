/** The keys that sign the identity of users for MCP servers. */
import type { Db, Tx } from '#platform/db/db.ts';
import type { AgentTables } from '../tables.ts';

/** Newest first. */
export async function listSealedKeys(db: Db<AgentTables>): Promise<readonly string[]> {
  const rows = await db.selectFrom('agent_signing_keys').select('sealed_key').orderBy('created_at', 'desc').execute();
  return rows.map(({ sealed_key }) => sealed_key);
}

export async function insertKey(tx: Tx<AgentTables>, kid: string, sealedKey: string): Promise<void> {
  await tx.insertInto('agent_signing_keys').values({ kid, sealed_key: sealedKey }).execute();
}
