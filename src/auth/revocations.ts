/**
 * Sign-outs that the provider has not confirmed. Each is stored encrypted, with a job that sends it until the provider
 * responds. Its tokens are rejected here at once.
 */

import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { startInterval } from '#platform/background/interval.ts';
import { removeAll } from '#platform/background/removal.ts';
import { transaction } from '#platform/db/db.ts';
import { type Job, type Queue, UnrecoverableError } from '#platform/jobs/jobs.ts';
import { withDeadline } from '#platform/resilience.ts';
import type { AuthContext } from './context.ts';
import { sessionMaxAgeS } from './cookies.ts';
import { type ProviderResult, type ProviderSession, providerTimeoutMs, type RevocationScope } from './provider.ts';
import { hashToken, subjectHashOf } from './rotation.ts';
import { addRevocation, findRevocation, removeRevocation, replaceRevocation, sweepSessions } from './store.ts';
import type { AuthTables } from './tables.ts';

const revocationJob = z.object({ revocationId: z.guid() });
type RevocationJob = z.output<typeof revocationJob>;

const daySeconds = 24 * 3600;
const dayMs = daySeconds * 1000;
/** After this time the job gives up. The dead tokens of the session have expired by then. */
const givenUpAfterMs = 7 * dayMs;

/** A week has fewer attempts than this. */
export const revocationQueue: Queue<RevocationJob> = {
  name: 'auth/revoke',
  payload: revocationJob,
  maxAttempts: 1000,
  retryAfterMs: 2000,
  longestRetryMs: 3600 * 1000,
};

/** Stores the sign-out of the newest token; `dead` are all known tokens of the session. */
export async function revokeLater(
  { db, jobs, refreshResults, revocationSealer }: AuthContext,
  { refreshToken, scope }: { readonly refreshToken: string; readonly scope: RevocationScope },
  dead: readonly string[],
): Promise<void> {
  await transaction(db, async (tx) => {
    const revocationId = await addRevocation(tx, revocationSealer.seal(refreshToken), scope);
    await jobs.enqueue(tx, revocationQueue, { revocationId }, { key: revocationId });
  });
  // Last, because a token that is marked gets no further revocation.
  for (const token of dead) await refreshResults.markRevoked(hashToken(token), randomUUID(), givenUpAfterMs);
}

export function startRevoking(deps: AuthContext): void {
  const { jobs } = deps;
  jobs.work<RevocationJob, AuthTables>(revocationQueue, (job) => revoke(deps, job), {
    concurrency: 4,
    onDead: (tx, { revocationId }) => removeRevocation(tx, revocationId),
  });
}

async function revoke(deps: AuthContext, { payload, signal, complete }: Job<RevocationJob>): Promise<void> {
  const { db, revocationSealer } = deps;
  const { revocationId } = payload;
  const revocation = await findRevocation(db, revocationId);
  if (revocation === undefined) return;
  const { sealed, scope, createdAt } = revocation;
  const token = revocationSealer.unseal(sealed);
  if (token === undefined) throw new UnrecoverableError('the token cannot be unsealed: its secret has been removed');
  if (Date.now() - createdAt.getTime() > givenUpAfterMs)
    throw new UnrecoverableError('the identity provider did not confirm the sign-out within a week');
  const keep = (next: string) => replaceRevocation(db, revocationId, sealed, revocationSealer.seal(next));
  const isOver = await withDeadline(
    providerTimeoutMs,
    (deadline) => endSession(deps, { token, scope, keep, signal: deadline }),
    signal,
  );
  if (!isOver) throw new Error('the identity provider is unavailable');
  await transaction(db, async (tx) => {
    await removeRevocation(tx, revocationId);
    await complete(tx);
  });
}

interface Ending {
  readonly token: string;
  readonly scope: RevocationScope;
  /** The provider replaces a token when it is used, so this stores the next one before anything else can fail. */
  readonly keep: (next: string) => Promise<void>;
  readonly signal: AbortSignal;
}

/** `false`: the provider did not respond. */
async function endSession({ provider, refreshResults }: AuthContext, ending: Ending): Promise<boolean> {
  const { token, scope, keep, signal } = ending;
  const answer: ProviderResult<ProviderSession> = await provider.refresh(token, { signal });
  if (answer.kind !== 'ok') return answer.kind === 'refused';
  await keep(answer.value.refreshToken);
  const revoked = await provider.revoke(answer.value.access_token, scope, { signal });
  if (revoked.kind === 'unavailable') return false;
  await refreshResults.drop(hashToken(token), subjectHashOf(answer.value));
  return true;
}

const sweepEveryMs = 60_000;

const sweptAtOnce = 1000;

/** Deletes expired refresh results, and sessions whose cookies have expired, at intervals. */
export function startSweeping({ db, refreshResults, log }: Pick<AuthContext, 'db' | 'refreshResults' | 'log'>) {
  return startInterval(
    sweepEveryMs,
    async (stopped) => {
      await refreshResults.sweep(stopped);
      await removeAll(sweptAtOnce, (limit) => sweepSessions(db, sessionMaxAgeS / daySeconds, limit), stopped);
    },
    (error) => log.warn({ err: error }, 'expired refreshes and sessions could not be removed'),
  );
}
