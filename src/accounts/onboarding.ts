/** Runs once, at a user's first sign-in: sets the language and records the inviter. */

import { type Db, transaction } from '#platform/db/db.ts';
import { isUuid } from '#platform/ids.ts';
import * as store from './store.ts';

export interface SignedIn {
  readonly id: string;
  readonly email?: string | undefined;
  readonly language: string;
  /** The value that came with the sign-in: a user id, or any other text. */
  readonly invite?: string | undefined;
}

export interface Onboarded {
  /** Whether this call onboarded the user. This is true only once per user. */
  readonly isReferred: boolean;
}

/**
 * Runs completely or not at all, once per user, also for concurrent and repeated calls. Updates the email address each
 * time. Does not onboard blocked users. Throws if the database does not respond; the next sign-in then counts as the first one.
 */
export function onboard(db: Db<store.AccountTables>, user: SignedIn, welcome?: store.Welcome): Promise<Onboarded> {
  return transaction(db, async (tx) => {
    const { blockedAt } = await store.ensureProfile(tx, { id: user.id, email: user.email }, welcome);
    if (blockedAt !== null || !(await store.beginOnboarding(tx, user.id))) return { isReferred: false };
    await store.setFirstLanguage(tx, user.id, user.language);
    const { invite } = user;
    if (invite === undefined || !isUuid(invite)) return { isReferred: false };
    return { isReferred: await store.recordReferral(tx, invite.toLowerCase(), user.id.toLowerCase()) };
  });
}
