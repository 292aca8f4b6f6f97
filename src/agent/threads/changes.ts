/** Changes of threads of which others learn, in the transaction of the caller, and who may make them. */

import type { Caller } from '#platform/access/caller.ts';
import type { Db, Tx } from '#platform/db/db.ts';
import { invalid, problems } from '#platform/problem.ts';
import { namedUser, type ThreadChange } from '../api.ts';
import type { AgentContext } from '../context.ts';
import { agentProblems } from '../problems.ts';
import { findRunningOf } from '../runs/runstore.ts';
import type { AgentTables } from '../tables.ts';
import { branchOff, findPlace, moveBack } from './branchstore.ts';
import * as store from './threadstore.ts';

/**
 * Locks the user's thread, or begins it. Throws 403 for another user's thread, 409 while it is being deleted, and 400 if it is
 * not `temporary` as the request states. Returns whether it is temporary.
 */
export async function openThread(
  tx: Tx<AgentTables>,
  threadId: string,
  userId: string,
  temporary: boolean | null = null,
): Promise<boolean> {
  const { ownerId, isDeleting, isTrashed, isTemporary } = await store.lockThread(
    tx,
    threadId,
    userId,
    temporary ?? false,
  );
  if (ownerId !== userId) throw problems.forbidden();
  if (isDeleting) {
    // The run ends with the deletion.
    const taskId = (await findRunningOf(tx, threadId))?.taskId;
    throw agentProblems.thread_deleting({ fields: { reason: 'thread_deleting', ...(taskId && { taskId }) } });
  }
  if (temporary !== null && temporary !== isTemporary)
    throw invalid('body.temporary', `must be ${isTemporary} or absent, because the thread exists`);
  // A conversation that goes on is not thrown away.
  if (isTrashed) await store.updateThread(tx, threadId, { trashed: false });
  return isTemporary;
}

/** Sets the title, moves the thread to the trash or out of it, and keeps a temporary one. Throws 404. */
export async function changeThread(
  { userEvents }: AgentContext,
  tx: Tx<AgentTables>,
  threadId: string,
  change: ThreadChange,
): Promise<void> {
  const ownerId = await store.updateThread(tx, threadId, change);
  if (ownerId === undefined) throw problems.not_found();
  await userEvents.publish(tx, ownerId, [{ type: 'thread.updated', threadId }]);
}

/**
 * Shows another version of the thread. The present one becomes a branch in its place. Throws 404 for a branch that the present messages
 * do not have. The thread has to be locked, without a run.
 */
export async function switchBranch(
  { userEvents }: AgentContext,
  tx: Tx<AgentTables>,
  { threadId, ownerId, branchId }: { readonly threadId: string; readonly ownerId: string; readonly branchId: string },
): Promise<void> {
  const afterSeq = await findPlace(tx, threadId, branchId);
  if (afterSeq === undefined) throw problems.not_found({ message: 'The thread has no such branch here.' });
  await branchOff(tx, threadId, afterSeq + 1);
  await moveBack(tx, threadId, branchId);
  await userEvents.publish(tx, ownerId, [{ type: 'thread.updated', threadId }]);
}

/** A title that a model made of the conversation with this message. Does nothing if a user has set one. */
export async function nameThread(
  { userEvents }: AgentContext,
  tx: Tx<AgentTables>,
  threadId: string,
  messageId: string,
  title: string,
): Promise<void> {
  const ownerId = await store.setModelTitle(tx, threadId, messageId, title);
  if (ownerId !== undefined) await userEvents.publish(tx, ownerId, [{ type: 'thread.updated', threadId }]);
}

/**
 * Hides one thread of the owner, or all, or those whose time is over: for users they are deleted. Their rows are
 * removed later (`removeThread`). Returns those that were not hidden before.
 */
export async function hideThreads(
  { userEvents }: AgentContext,
  tx: Tx<AgentTables>,
  ownerId: string,
  threadId: string | undefined,
  deletesAssets: boolean,
  isOnlyExpired = false,
): Promise<readonly string[]> {
  const hidden = await store.hideThreads(tx, ownerId, threadId, deletesAssets, isOnlyExpired);
  await userEvents.publish(
    tx,
    ownerId,
    hidden.map((id) => ({ type: 'thread.deleted', threadId: id })),
  );
  return hidden;
}

// Who may read and change a thread.

/** The caller of a route that admits only users. */
export function signedIn(caller: Caller): Extract<Caller, { kind: 'user' }> {
  if (caller.kind !== 'user') throw new Error('the guard admits only users');
  return caller;
}

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
): Promise<store.ThreadLock | undefined> {
  const thread = await store.findOwnership(deps.db, threadId);
  if (thread !== undefined && userId !== undefined && thread.ownerId !== userId) throw problems.forbidden();
  return thread?.isDeleting ? undefined : thread;
}
