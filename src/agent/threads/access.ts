/** Who may read a thread. */
import type { Caller } from '#platform/access/caller.ts';
import type { Db } from '#platform/db/db.ts';
import { problems } from '#platform/problem.ts';
import { findThreadOwner, type RunTables } from '../store/runstore.ts';

/** Returns the owner, or `undefined` if there is no such thread. Throws 403 for another user's thread. */
export async function checkThread(
  deps: { readonly db: Db<RunTables> },
  caller: Caller,
  threadId: string,
): Promise<string | undefined> {
  const ownerId = await findThreadOwner(deps.db, threadId);
  if (caller.kind === 'user' && ownerId !== undefined && ownerId !== caller.userId) throw problems.forbidden();
  return ownerId;
}
