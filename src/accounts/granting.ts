/** `npm run credits`: sets a user's plan and credits. */
import { randomUUID } from 'node:crypto';
import { type Db, transaction } from '#platform/db/db.ts';
import type { CreditsGrant, GrantedProfile } from './api.ts';
import { lockAccount, type PeopleTables, writeCreditChange } from './people/peoplestore.ts';
import { accountProblems } from './problems.ts';
import { accountOf } from './sampleaccounts.ts';
import { ensureProfile, findProfilesByEmail, type Welcome } from './store.ts';

export interface GrantingDeps {
  readonly db: Db<PeopleTables>;
  /** The local identity provider is in use, so an email address identifies an account before its first sign-in. */
  readonly hasMadeUpAccounts: boolean;
  readonly welcome?: Welcome | undefined;
}

/** Throws `user_not_found` (404) and `user_ambiguous` (409). Creates the profile of an id that has none. */
export async function grant(
  deps: GrantingDeps,
  actor: string,
  { user, plan, credits }: CreditsGrant,
): Promise<GrantedProfile> {
  const userId = user.includes('@') ? await idOf(deps, user) : user;
  const { id, email } = await ensureProfile(deps.db, { id: userId }, deps.welcome);
  await transaction(deps.db, async (tx) => {
    const before = await lockAccount(tx, id);
    if (before === undefined) throw accountProblems.user_not_found();
    const reason = actor === 'unnamed' ? 'Set by a server' : 'Set by npm run credits';
    const change = { changeId: randomUUID(), userId: id, actor, reason, before, after: { plan, credits } };
    if (before.plan !== plan || before.credits !== credits) await writeCreditChange(tx, change);
  });
  return { id, email, plan, credits };
}

async function idOf({ db, hasMadeUpAccounts, welcome }: GrantingDeps, email: string): Promise<string> {
  const [found, another] = await findProfilesByEmail(db, email);
  if (another !== undefined) throw accountProblems.user_ambiguous();
  if (found !== undefined) return found.id;
  if (!hasMadeUpAccounts) throw accountProblems.user_not_found();
  return (await ensureProfile(db, accountOf(email), welcome)).id;
}
