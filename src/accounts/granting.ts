/** `npm run credits`: sets a user's plan and credits. */
import type { Db } from '#platform/db/db.ts';
import type { GrantedProfile, GrantRequest } from './api.ts';
import { accountProblems } from './problems.ts';
import { accountOf } from './sampleaccounts.ts';
import { type AccountTables, ensureProfile, findProfilesByEmail, setPlanAndCredits, type Welcome } from './store.ts';

export interface GrantingDeps {
  readonly db: Db<AccountTables>;
  /** The local identity provider is in use, so an email address identifies an account before its first sign-in. */
  readonly hasMadeUpAccounts: boolean;
  readonly welcome?: Welcome | undefined;
}

/** Throws `user_not_found` (404) and `user_ambiguous` (409). Creates the profile of an id that has none. */
export async function grant(deps: GrantingDeps, { user, plan, credits }: GrantRequest): Promise<GrantedProfile> {
  const id = user.includes('@') ? await idOf(deps, user) : user;
  // Setting the plan creates a missing profile too, but publishes nothing.
  if (deps.welcome !== undefined) await ensureProfile(deps.db, { id }, deps.welcome);
  const profile = await setPlanAndCredits(deps.db, id, plan, credits);
  return { id: profile.id, email: profile.email, plan: profile.plan, credits: profile.credits };
}

async function idOf({ db, hasMadeUpAccounts, welcome }: GrantingDeps, email: string): Promise<string> {
  const [found, another] = await findProfilesByEmail(db, email);
  if (another !== undefined) throw accountProblems.user_ambiguous();
  if (found !== undefined) return found.id;
  if (!hasMadeUpAccounts) throw accountProblems.user_not_found();
  return (await ensureProfile(db, accountOf(email), welcome)).id;
}
