/**
 * Ends the sessions of a user on behalf of an operator. The provider ends a session only with a token of it, so a session
 * is refused here from now on, and the provider learns of it with the next request of its browser.
 */
import type { Clock } from '#platform/clock.ts';
import type { Db } from '#platform/db/db.ts';
import { withDeadline } from '#platform/resilience/deadline.ts';
import { type EndedTables, findSessionsEnd, writeSessionsEnd } from './endedstore.ts';
import { hashToken } from './rotation.ts';
import type { Session } from './sessions.ts';

export interface SessionEnds {
  end(userId: string): Promise<void>;
  find(userId: string): Promise<Date | undefined>;
  /** `false` while the database does not respond: it must not sign anyone out. */
  isEnded(session: Session): Promise<boolean>;
}

const databaseTimeoutMs = 2000;
const hashOf = (userId: string) => hashToken(`subject ${userId}`);

export function createSessionEnds(db: Db<EndedTables>, clock: Clock): SessionEnds {
  const find = (userId: string) => findSessionsEnd(db, hashOf(userId));
  return {
    find,
    end: (userId) => writeSessionsEnd(db, hashOf(userId), new Date(clock.now())),
    async isEnded({ subject, sealedAtMs }) {
      if (subject === undefined) return false;
      const endedAt = await withDeadline(databaseTimeoutMs, () => find(subject)).catch(() => undefined);
      return endedAt !== undefined && sealedAtMs <= endedAt.getTime();
    },
  };
}
