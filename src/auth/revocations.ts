/**
 * Sign-outs that the provider could not be told of: kept, sealed, and told again until it hears, by whichever process.
 * Meanwhile the tokens are dead here.
 */
import { randomUUID } from 'node:crypto';
import { startInterval } from '#platform/background/interval.ts';
import type { Db } from '#platform/db/db.ts';
import type { Log } from '#platform/log.ts';
import { withDeadline } from '#platform/resilience/deadline.ts';
import {
  type Provider,
  type ProviderResult,
  type ProviderSession,
  providerTimeoutMs,
  type RevocationScope,
} from './provider.ts';
import type { RefreshResults } from './refreshresults.ts';
import { hashToken, subjectHashOf } from './rotation.ts';
import type { Sealer } from './sealing.ts';
import { type AuthTables, addRevocation, putOffRevocation, removeRevocation, takeRevocation } from './store.ts';

export interface RevocationDeps {
  readonly db: Db<AuthTables>;
  readonly refreshResults: RefreshResults;
  readonly provider: Pick<Provider, 'refresh' | 'revoke'>;
  readonly revocationSealer: Sealer;
  readonly log: Log;
}

const dayMs = 24 * 3600 * 1000;
/** Then it is given up, and what was buried has served its time. */
const givenUpAfterMs = 7 * dayMs;
/** Longer than one try: a process that dies leaves it to the others. */
const leaseMs = 30_000;
const firstDelayMs = 2000;
const longestDelayMs = 3600 * 1000;

/** Keeps the sign-out of the newest token; `dead` are all tokens of the session that are known. */
export async function revokeLater(
  deps: RevocationDeps,
  { refreshToken, scope }: { readonly refreshToken: string; readonly scope: RevocationScope },
  dead: readonly string[],
): Promise<void> {
  for (const token of dead) await deps.refreshResults.markRevoked(hashToken(token), randomUUID(), givenUpAfterMs);
  await addRevocation(deps.db, deps.revocationSealer.seal(refreshToken), scope);
}

/** Tells the provider of every sign-out that is due; `stopping` ends it early, and what it had in hand is due again. */
async function revokeDue(deps: RevocationDeps, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted) {
    const due = await takeRevocation(deps.db, leaseMs);
    if (due === undefined) return;
    const token = deps.revocationSealer.unseal(due.sealed);
    const isOld = Date.now() - due.createdAt.getTime() > givenUpAfterMs;
    if (token === undefined || isOld) {
      deps.log.error({ tries: due.tries }, 'a sign-out was given up: the identity provider was never told');
      await removeRevocation(deps.db, due.id);
      continue;
    }
    const left = await withDeadline(
      providerTimeoutMs,
      (signal) => endSession(deps, token, due.scope, signal),
      stopping,
    ).catch(() => token);
    if (left === undefined) await removeRevocation(deps.db, due.id);
    else {
      const delayMs = Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(due.tries - 1, 20));
      await putOffRevocation(deps.db, due.id, deps.revocationSealer.seal(left), delayMs);
    }
  }
}

/** `undefined`: the session is over. Otherwise the token with which to try again. */
async function endSession(
  { provider, refreshResults }: RevocationDeps,
  token: string,
  scope: RevocationScope,
  signal: AbortSignal,
): Promise<string | undefined> {
  const answer: ProviderResult<ProviderSession> = await provider.refresh(token, { signal });
  if (answer.kind === 'refused') return undefined;
  if (answer.kind === 'unavailable') return token;
  const { access_token: accessToken, refreshToken } = answer.value;
  const revoked = await provider.revoke(accessToken, scope, { signal });
  if (revoked.kind === 'unavailable') return refreshToken;
  await refreshResults.drop(hashToken(token), subjectHashOf(answer.value));
  return undefined;
}

export interface Housekeeping {
  close(): Promise<void>;
}

const sweepEvery = 30;

/** Beside the requests: sign-outs that are due, and now and then answers that were kept long enough. */
export function keepHouse(deps: RevocationDeps, everyMs = 2000): Housekeeping {
  const stopping = new AbortController();
  let rounds = 0;
  const round = async () => {
    if (rounds % sweepEvery === 0) await deps.refreshResults.sweep();
    rounds += 1;
    await revokeDue(deps, stopping.signal);
  };
  const interval = startInterval(everyMs, round, (error) =>
    deps.log.warn({ err: error }, 'pending sign-outs could not be sent to the identity provider'),
  );
  return {
    close: async () => {
      // A provider that hangs does not delay shutdown.
      stopping.abort();
      await interval.stop();
    },
  };
}
