import { accountProblems } from '#accounts/problems.ts';
import { withDeadline } from '#platform/resilience/deadline.ts';
import { type Provider, providerTimeoutMs } from './provider.ts';

/** Deletes the account of a user at the identity provider. Throws 503 if the provider does not delete it. */
export async function removeAccount(
  { deleteUser }: Pick<Provider, 'deleteUser'>,
  userId: string,
): Promise<'removed' | 'not_configured'> {
  if (deleteUser === undefined) return 'not_configured';
  const outcome = await withDeadline(providerTimeoutMs, (signal) => deleteUser(userId, { signal }));
  if (outcome === 'removed') return outcome;
  const cause = new Error(outcome === 'refused' ? 'it rejects IDP_SERVICE_KEY' : 'it does not respond');
  throw accountProblems.account_not_deleted({ cause });
}
