/** Takes up sends whose processes died before their callers had an answer (docs/specification/notify.md#idempotency). */
import { type Interval, startInterval } from '#platform/background/interval.ts';
import type { Mail } from './mail.ts';
import { AllSuppressed, claimMs, deliver, type SendingDeps } from './sending.ts';
import { claimLapsed, dropOld, markFailed, postpone } from './store.ts';

const everyMs = 5000;
const atOnce = 10;
const dropEveryRounds = 720;
const longestWaitMs = 10 * 60 * 1000;

export function startResuming(deps: SendingDeps): Interval {
  let rounds = 0;
  return startInterval(
    everyMs,
    () => resume(deps, rounds++ % dropEveryRounds === 0),
    (error) => deps.log.warn({ err: error }, 'interrupted sends could not be resumed'),
  );
}

async function resume(deps: SendingDeps, isTimeToDrop: boolean): Promise<void> {
  if (isTimeToDrop) await dropOld(deps.db);
  const lapsed = await claimLapsed(deps.db, atOnce, claimMs);
  await Promise.all(lapsed.map((send) => resumeOne(deps, send)));
}

interface LapsedSend {
  readonly id: string;
  readonly attempt: number;
  readonly mail: Mail | null;
  /** Younger than a day: after that nobody expects it any more. */
  readonly isKept: boolean;
}

async function resumeOne(deps: SendingDeps, { id, attempt, mail, isKept }: LapsedSend): Promise<void> {
  const claim = { id, attempt };
  if (mail === null || !isKept) {
    deps.log.error({ send: id }, 'a send is given up after a day');
    await markFailed(deps.db, claim);
    return;
  }
  try {
    await deliver(deps, claim, mail);
    deps.log.info({ send: id }, 'a send that a crash had left is done');
  } catch (error) {
    if (error instanceof AllSuppressed) {
      deps.log.warn({ send: id }, 'a send that a crash had left is given up: every recipient is suppressed');
      await markFailed(deps.db, claim);
      return;
    }
    deps.log.warn({ err: error, send: id }, 'a send that a crash had left did not go out; it is tried again');
    await postpone(deps.db, claim, Math.min(everyMs * 2 ** attempt, longestWaitMs));
  }
}
