/** What happens at a user's first sign-in, and only then: the language is set, and who invited is remembered. */

import { type Db, transaction } from '#platform/db/db.ts';
import { isUuid } from '#platform/ids.ts';
import {
  type AccountTables,
  beginOnboarding,
  ensureProfile,
  type OnCreated,
  recordReferral,
  setFirstLanguage,
} from './store.ts';

export interface SignedIn {
  readonly id: string;
  readonly email?: string | undefined;
  readonly language: string;
  /** As it came with the sign-in: a user id, or anything else. */
  readonly invite?: string | undefined;
}

export interface Onboarded {
  /** Now: never again for the same user. */
  readonly isReferred: boolean;
}

/**
 * All of it or nothing, once per user however often and from wherever it is called; the email address is brought up to
 * date every time. Throws when the database does not answer: then the next sign-in is the first one.
 */
export function onboard(db: Db<AccountTables>, user: SignedIn, onCreated?: OnCreated): Promise<Onboarded> {
  return transaction(db, async (tx) => {
    await ensureProfile(tx, { id: user.id, email: user.email }, onCreated);
    if (!(await beginOnboarding(tx, user.id))) return { isReferred: false };
    await setFirstLanguage(tx, user.id, user.language);
    const { invite } = user;
    if (invite === undefined || !isUuid(invite)) return { isReferred: false };
    return { isReferred: await recordReferral(tx, invite.toLowerCase(), user.id.toLowerCase()) };
  });
}
