/**
 * One refresh per token, however many tabs ask and whichever process they reach: the first asks the provider, the others
 * get its answer, and so does a second tab that comes about ten seconds later with the cookie of before (docs/specification/auth.md#refresh).
 * Within the process by joining, beyond it by what `answers` keeps. Without the database each process goes on by itself:
 * the provider gives the active token to whoever brings the one before it.
 */
import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Log } from '#platform/log.ts';
import { withDeadline } from '#platform/resilience/deadline.ts';
import type { Answers, Settled } from './answers.ts';
import { accessToken } from './api.ts';
import type { Answer, Provider, ProviderCall, ProviderSession } from './provider.ts';
import { providerTimeoutMs } from './provider.ts';
import type { Unavailable } from './refusals.ts';
import type { Sealer } from './sealing.ts';

export interface RotationDeps {
  readonly answers: Answers;
  readonly provider: Pick<Provider, 'refresh'>;
  readonly answerSealer: Sealer;
  readonly log: Log;
  readonly timeoutMs?: number;
}

export type Refreshed =
  | { readonly kind: 'ok'; readonly session: ProviderSession }
  | { readonly kind: 'expired' }
  | Unavailable;

export interface Rotation {
  /** Never throws, and answers within the provider's ten seconds. */
  refresh(refreshToken: string, clientAddress: string | undefined): Promise<Refreshed>;
}

/** How long the answer is kept for a second tab. */
const keptMs = 10_000;
/** Longer than the provider is waited for: only a process that died leaves a claim to run out. */
const claimTtlMs = 12_000;
const pollEveryMs = 40;
/** A database that takes longer is gone without. */
const databaseTimeoutMs = 1500;

export const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest();

export function createRotation(deps: RotationDeps): Rotation {
  const { timeoutMs = providerTimeoutMs } = deps;
  const flights = new Map<string, Promise<Refreshed>>();
  return {
    refresh: (refreshToken, clientAddress) => {
      const hash = hashToken(refreshToken);
      const name = hash.toString('base64');
      const joined = flights.get(name);
      if (joined !== undefined) return joined;
      const flight = withDeadline(timeoutMs, (signal) => rotate(deps, refreshToken, hash, { signal, clientAddress }))
        .catch((error: unknown): Refreshed => {
          deps.log.warn({ err: error }, 'a refresh came to no end');
          return { kind: 'unavailable' };
        })
        .finally(() => flights.delete(name));
      flights.set(name, flight);
      return flight;
    },
  };
}

async function rotate(deps: RotationDeps, token: string, hash: Buffer, call: ProviderCall): Promise<Refreshed> {
  const attempt = randomUUID();
  const claimed = await briefly(deps, () => deps.answers.claim(hash, attempt, claimTtlMs));
  if (claimed !== false) return ask(deps, token, hash, attempt, call);
  const found = await waitForOther(deps, hash, call.signal);
  // It had been there and is gone again, by a logout or by age: the provider knows best.
  return found ?? ask(deps, token, hash, attempt, call);
}

async function ask(
  deps: RotationDeps,
  token: string,
  hash: Buffer,
  attempt: string,
  call: ProviderCall,
): Promise<Refreshed> {
  const answer = await deps.provider
    .refresh(token, call)
    .catch((): Answer<ProviderSession> => ({ kind: 'unavailable' }));
  const { settled, refreshed } = conclude(deps, answer);
  // Not rotated: then nothing has to be kept for anybody, and the next call asks anew.
  const lastsMs = refreshed.kind === 'ok' && refreshed.session.refreshToken === token ? 0 : keptMs;
  await briefly(deps, () => deps.answers.settle(hash, attempt, settled, lastsMs));
  return refreshed;
}

function conclude(
  deps: RotationDeps,
  answer: Answer<ProviderSession>,
): { readonly settled: Settled; readonly refreshed: Refreshed } {
  if (answer.kind === 'refused') return { settled: { outcome: 'expired' }, refreshed: { kind: 'expired' } };
  if (answer.kind === 'unavailable') return { settled: { outcome: 'unavailable' }, refreshed: answer };
  const session = answer.value;
  const settled: Settled = {
    outcome: 'ok',
    sealed: deps.answerSealer.seal(JSON.stringify(session)),
    successorHash: hashToken(session.refreshToken),
    subjectHash: subjectHashOf(session),
  };
  return { settled, refreshed: { kind: 'ok', session } };
}

export const subjectHashOf = ({ user }: ProviderSession): Buffer | undefined =>
  user === undefined ? undefined : hashToken(`subject ${user.id}`);

/** `undefined`: there is nothing to wait for any more. */
async function waitForOther(deps: RotationDeps, hash: Buffer, signal: AbortSignal): Promise<Refreshed | undefined> {
  for (;;) {
    const row = await deps.answers.find(hash);
    if (row === undefined) return undefined;
    if (row.outcome === 'ok') return openAnswer(deps, row.sealed);
    if (row.outcome === 'expired' || row.outcome === 'signed_out') return { kind: 'expired' };
    if (row.outcome === 'unavailable') return { kind: 'unavailable' };
    await sleep(pollEveryMs, undefined, { signal });
  }
}

const keptSession = accessToken.extend({
  refreshToken: z.string(),
  user: z.object({ id: z.string(), email: z.string().optional() }).optional(),
});

/** Of a process with other secrets it cannot be read: then this one asks for itself. */
function openAnswer(deps: RotationDeps, sealed: string | null): Refreshed | undefined {
  const text = sealed === null ? undefined : deps.answerSealer.unseal(sealed);
  if (text === undefined) return undefined;
  const { user, ...session } = keptSession.parse(JSON.parse(text));
  return { kind: 'ok', session: { ...session, user } };
}

/** `undefined`: the database does not answer, or not soon. */
async function briefly<T>({ log }: RotationDeps, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await withDeadline(databaseTimeoutMs, work);
  } catch (error) {
    log.warn({ err: error }, 'a refresh goes on without the database');
    return undefined;
  }
}
