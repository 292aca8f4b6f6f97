/** Who may read and change a thread. */
import type { Caller } from '#platform/access/caller.ts';
import type { Db } from '#platform/db/db.ts';
import { invalid, problems } from '#platform/problem.ts';
import { namedUser } from '../api.ts';
import type { AgentTables } from '../tables.ts';
import { findOwnership, type ThreadLock } from './threadstore.ts';

/** The user of the token, or the one that a server names. Throws 400 if a server names none. */
export function userOf(caller: Caller, named: unknown, field: string): string {
  const userId = namedUserOf(caller, named, field);
  if (userId === undefined) throw invalid(field, 'is required with X-Internal-Key');
  return userId;
}

/** As `userOf`; `undefined` for a server that names no user. */
export function namedUserOf(caller: Caller, named: unknown, field: string): string | undefined {
  if (caller.kind === 'user') return caller.userId;
  if (named === undefined || named === null) return undefined;
  const { data, error } = namedUser.safeParse(named);
  if (data === undefined) throw invalid(field, error?.issues[0]?.message ?? 'must be a UUID');
  return data;
}

/** Returns the owner of the thread. Otherwise as `findVisible`. */
export async function checkThread(
  deps: { readonly db: Db<AgentTables> },
  userId: string | undefined,
  threadId: string,
): Promise<string | undefined> {
  return (await findVisible(deps, userId, threadId))?.ownerId;
}

/**
 * Returns the thread, or `undefined` if there is no such thread, or it is being deleted. Throws 403 for the thread of another
 * user than `userId`; without one, a server acts for itself and may read every thread.
 */
export async function findVisible(
  deps: { readonly db: Db<AgentTables> },
  userId: string | undefined,
  threadId: string,
): Promise<ThreadLock | undefined> {
  const thread = await findOwnership(deps.db, threadId);
  if (thread !== undefined && userId !== undefined && thread.ownerId !== userId) throw problems.forbidden();
  return thread?.isDeleting ? undefined : thread;
}
