/**
 * Ends the sessions of a user on behalf of an operator. The provider ends a session only with a token of it, so a session
 * is refused here from now on, and the provider learns of it with the next request of its browser.
 */
import type { Db, Tx } from '#platform/db/db.ts';
import { isUuid } from '#platform/ids.ts';
import { withDeadline } from '#platform/resilience.ts';
import { hashToken } from './rotation.ts';
import type { Session } from './sessions.ts';
import { findSessionsEnd, removeSessions, writeSessionsEnd } from './store.ts';
import type { AuthTables } from './tables.ts';

export type SessionEnds = ReturnType<typeof createSessionEnds>;

interface SessionCheck {
  readonly isEnded: boolean;
  /** Whether an operator has blocked the account. */
  readonly isBlocked: boolean;
  readonly checkedAtMs?: number;
}

const unchecked: SessionCheck = { isEnded: false, isBlocked: false };
const databaseTimeoutMs = 2000;
const hashOf = (userId: string) => hashToken(`subject ${userId}`);

/** All times are the database's, because the clocks of processes may differ. */
export function createSessionEnds(db: Db<AuthTables>) {
  const find = async (userId: string) => (await findSessionsEnd(db, hashOf(userId))).endedAt ?? undefined;
  return {
    find,
    async end(userId: string, tx?: Tx<AuthTables>): Promise<void> {
      await writeSessionsEnd(tx ?? db, hashOf(userId));
      await removeSessions(tx ?? db, userId, undefined);
    },
    /** Both are `false` while the database does not respond: it must not sign anyone out. Otherwise, also the time of this check. */
    async check({ subject, sealedAtMs }: Omit<Session, 'token'>): Promise<SessionCheck> {
      if (subject === undefined) return unchecked;
      const userId = isUuid(subject) ? subject : undefined;
      const found = await withDeadline(databaseTimeoutMs, () => findSessionsEnd(db, hashOf(subject), userId)).catch(
        () => undefined,
      );
      if (found === undefined) return unchecked;
      const { endedAt, isBlocked, readAt } = found;
      return { isBlocked, isEnded: endedAt !== null && sealedAtMs <= endedAt.getTime(), checkedAtMs: readAt.getTime() };
    },
  };
}
