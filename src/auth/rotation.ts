/**
 * Makes one refresh per token, however many tabs and processes are involved. The first request calls the provider. The others
 * receive its result, as does a second tab that arrives within about ten seconds with the old cookie (docs/specification/auth.md#refresh).
 * Requests in the same process share a promise, and other processes read the stored result. Without the database, each process
 * continues alone: the provider returns the active token for the previous one.
 */
import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Sealer } from '#platform/access/sealing.ts';
import type { Log } from '#platform/log.ts';
import { withDeadline } from '#platform/resilience.ts';
import { accessToken } from './api.ts';
import type { Provider, ProviderCall, ProviderResult, ProviderSession, Unavailable } from './provider.ts';
import type { RefreshResults, Settled } from './refreshresults.ts';

export interface RotationOptions {
  readonly refreshResults: RefreshResults;
  readonly provider: Pick<Provider, 'refresh'>;
  readonly resultSealer: Sealer;
  readonly log: Log;
  readonly timeoutMs: number;
}

export type Refreshed =
  | { readonly kind: 'ok'; readonly session: ProviderSession }
  | { readonly kind: 'expired' }
  | Unavailable;

export interface Rotation {
  /** Never throws, and responds within the provider's ten seconds. */
  refresh(refreshToken: string, clientAddress: string | undefined): Promise<Refreshed>;
}

/** How long the result is stored for a second tab. */
const resultTtlMs = 10_000;
/** Longer than the provider's timeout, so a claim expires only if its process died. */
const claimTtlMs = 12_000;
const pollEveryMs = 40;
/** If the database takes longer, the refresh continues without it. */
const databaseTimeoutMs = 1500;

export const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest();

export function createRotation(deps: RotationOptions): Rotation {
  const flights = new Map<string, Promise<Refreshed>>();
  return {
    refresh: (refreshToken, clientAddress) => {
      const hash = hashToken(refreshToken);
      const name = hash.toString('base64');
      const joined = flights.get(name);
      if (joined !== undefined) return joined;
      const flight = withDeadline(deps.timeoutMs, (signal) =>
        rotate(deps, refreshToken, hash, { signal, clientAddress }),
      )
        .catch((error: unknown): Refreshed => {
          deps.log.warn({ err: error }, 'a refresh did not finish');
          return { kind: 'unavailable' };
        })
        .finally(() => flights.delete(name));
      flights.set(name, flight);
      return flight;
    },
  };
}

async function rotate(deps: RotationOptions, token: string, hash: Buffer, call: ProviderCall): Promise<Refreshed> {
  const attempt = randomUUID();
  const claimed = await withinLimit(deps, () => deps.refreshResults.claim(hash, attempt, claimTtlMs));
  if (claimed !== false) return callProvider(deps, token, hash, attempt, call);
  const found = await waitForResult(deps, hash, call.signal);
  // The row existed and was deleted by a logout or by age, or cannot be read, so ask the provider.
  return found ?? callProvider(deps, token, hash, attempt, call);
}

async function callProvider(
  deps: RotationOptions,
  token: string,
  hash: Buffer,
  attempt: string,
  call: ProviderCall,
): Promise<Refreshed> {
  const result = await deps.provider
    .refresh(token, call)
    .catch((): ProviderResult<ProviderSession> => ({ kind: 'unavailable' }));
  const { settled, refreshed } = conclude(deps, result);
  // If the token was not rotated, no result needs to be stored, and the next call goes to the provider again.
  const ttlMs = refreshed.kind === 'ok' && refreshed.session.refreshToken === token ? 0 : resultTtlMs;
  await withinLimit(deps, () => deps.refreshResults.settle(hash, attempt, settled, ttlMs));
  return refreshed;
}

function conclude(
  deps: RotationOptions,
  result: ProviderResult<ProviderSession>,
): { readonly settled: Settled; readonly refreshed: Refreshed } {
  if (result.kind === 'refused') return { settled: { outcome: 'expired' }, refreshed: { kind: 'expired' } };
  if (result.kind === 'unavailable') return { settled: { outcome: 'unavailable' }, refreshed: result };
  const session = result.value;
  const settled: Settled = {
    outcome: 'ok',
    sealed: deps.resultSealer.seal(JSON.stringify(session)),
    successorHash: hashToken(session.refreshToken),
    subjectHash: subjectHashOf(session),
  };
  return { settled, refreshed: { kind: 'ok', session } };
}

export const subjectHashOf = ({ user }: ProviderSession): Buffer | undefined =>
  user === undefined ? undefined : hashToken(`subject ${user.id}`);

/** Returns `undefined` if there is no longer a result to wait for, or the database does not respond. */
async function waitForResult(deps: RotationOptions, hash: Buffer, signal: AbortSignal): Promise<Refreshed | undefined> {
  for (;;) {
    const row = await withinLimit(deps, () => deps.refreshResults.find(hash));
    if (row === undefined) return undefined;
    if (row.outcome === 'ok') return openResult(deps, row.sealed);
    if (row.outcome === 'expired' || row.outcome === 'signed_out') return { kind: 'expired' };
    if (row.outcome === 'unavailable') return { kind: 'unavailable' };
    await sleep(pollEveryMs, undefined, { signal });
  }
}

const storedSession = accessToken.extend({
  refreshToken: z.string(),
  user: z.object({ id: z.string(), email: z.string().optional() }).optional(),
});

/** A result of a process with other secrets is unreadable. Then this process calls the provider itself. */
function openResult(deps: RotationOptions, sealed: string | null): Refreshed | undefined {
  const text = sealed === null ? undefined : deps.resultSealer.unseal(sealed);
  if (text === undefined) return undefined;
  const { user, ...session } = storedSession.parse(JSON.parse(text));
  return { kind: 'ok', session: { ...session, user } };
}

/** Returns `undefined` if the database does not respond in time. */
async function withinLimit<T>({ log }: RotationOptions, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await withDeadline(databaseTimeoutMs, work);
  } catch (error) {
    log.warn({ err: error }, 'a refresh continues without the database');
    return undefined;
  }
}
