/** `npm run credits -- <email or id> <plan> <credits>`: sets a user's plan and credits. */
import { creditsGrant, type GrantedProfile, maxCredits, plans } from '#accounts/api.ts';
import { grant } from '#accounts/granting.ts';
import { audited, auditOf, commandActor, hashedTarget } from '#platform/audit/audit.ts';
import { StartFault } from '#platform/lifecycle.ts';
import { onRecords } from './records.ts';
import { usageOf } from './usage.ts';

const usage = `${usageOf('credits')}. Plans: ${plans.join(', ')}.`;

export async function credits(args: readonly string[]): Promise<number> {
  const [user, plan, amount = ''] = args;
  const isNumber = /^\d+$/.test(amount);
  const { data: request, error } = creditsGrant.safeParse({ user, plan, credits: isNumber ? Number(amount) : amount });
  if (request === undefined || args.length !== 3) throw new StartFault(`${faultOf(error?.issues[0]?.path[0])}${usage}`);
  const profile = await onRecords<GrantedProfile>({
    method: 'PUT',
    path: '/v1/accounts/credits',
    json: request,
    locally: (db, config, welcome) =>
      audited(
        auditOf(db),
        { action: 'credits', target: hashedTarget(request.user), targetOf: ({ id }) => hashedTarget(id) },
        () => grant({ db, hasMadeUpAccounts: hasMadeUpAccounts(config), welcome }, commandActor(), request),
      ),
  });
  console.log(`${profile.email ?? profile.id}: ${profile.plan}, ${profile.credits} credits`);
  return 0;
}

/** The local identity provider is used if no other is configured. */
const hasMadeUpAccounts = (config: { readonly identity: { readonly url?: string | undefined } }) =>
  config.identity.url === undefined;

const faults: Readonly<Record<PropertyKey, string>> = {
  user: 'The user must be an id or an email address. ',
  plan: 'The plan does not exist. ',
  credits: `Credits must be a whole number from 0 to ${maxCredits}. `,
};
const faultOf = (field: PropertyKey | undefined): string => (field === undefined ? '' : (faults[field] ?? ''));
