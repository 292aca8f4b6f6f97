/**
 * Ends the sessions of a user on behalf of an operator. The provider ends a session only with a token of it, so a session
 * is refused here from now on, and the provider learns of it with the next request of its browser.
 */
import type { Db } from '#platform/db/db.ts';
import { withDeadline } from '#platform/resilience.ts';
import { hashToken } from './rotation.ts';
import type { Session } from './sessions.ts';
import { findSessionsEnd, readNow, removeSessions, writeSessionsEnd } from './store.ts';
import type { AuthTables } from './tables.ts';

export interface SessionEnds {
  end(userId: string): Promise<void>;
  find(userId: string): Promise<Date | undefined>;
  /** `false` while the database does not respond: it must not sign anyone out. Otherwise, also the time of this check. */
  check(session: Session): Promise<{ readonly isEnded: boolean; readonly checkedAtMs?: number }>;
  /** The time of a new session. `undefined` while the database does not respond. */
  now(): Promise<number | undefined>;
}

const databaseTimeoutMs = 2000;
const hashOf = (userId: string) => hashToken(`subject ${userId}`);

/** All times are the database's, because the clocks of processes may differ. */
export function createSessionEnds(db: Db<AuthTables>): SessionEnds {
  const find = async (userId: string) => (await findSessionsEnd(db, hashOf(userId))).endedAt ?? undefined;
  return {
    find,
    async end(userId) {
      await writeSessionsEnd(db, hashOf(userId));
      await removeSessions(db, userId, undefined);
    },
    async check({ subject, sealedAtMs }) {
      if (subject === undefined) return { isEnded: false };
      const found = await withDeadline(databaseTimeoutMs, () => findSessionsEnd(db, hashOf(subject))).catch(
        () => undefined,
      );
      if (found === undefined) return { isEnded: false };
      const { endedAt, readAt } = found;
      return { isEnded: endedAt !== null && sealedAtMs <= endedAt.getTime(), checkedAtMs: readAt.getTime() };
    },
    now: async () => {
      const readAt = await withDeadline(databaseTimeoutMs, () => readNow(db)).catch(() => undefined);
      return readAt?.getTime();
    },
  };
}
