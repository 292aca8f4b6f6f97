/**
 * Deletes accounts, now or at a promised date. One job takes each deletion through its stages, so a process that ends at
 * any step is continued by another, and no mail and no event is sent twice.
 */

import { z } from 'zod';
import { sendMail } from '#accounts/mailing.ts';
import type { Erased as ErasedRecords, ErasureReport } from '#accounts/people/api.ts';
import { findById } from '#accounts/people/peoplestore.ts';
import { type Tx, transaction } from '#platform/db/db.ts';
import { bodyOf } from '#platform/http/client.ts';
import type { Job, Queue } from '#platform/jobs/jobs.ts';
import { Problem, problems } from '#platform/problem.ts';
import { authProblems } from '../problems.ts';
import type { AuthTables } from '../tables.ts';
import type { AccountContext } from './context.ts';
import * as store from './store.ts';

/** It does not name the user, because an erasure waits for the jobs that do. */
const deletionJob = z.object({ deletionId: z.guid() });
type DeletionJob = z.output<typeof deletionJob>;

/** A deletion is never given up: this is more than ten years. */
export const deletionQueue: Queue<DeletionJob> = {
  name: 'auth/delete-account',
  payload: deletionJob,
  maxAttempts: 100_000,
  retryAfterMs: 2000,
  longestRetryMs: 3600 * 1000,
};

/** Schedules the deletion and ends all sessions. A repeated request keeps the date. Throws 404 without a profile. */
export async function scheduleDeletion(deps: AccountContext, userId: string): Promise<{ readonly deletesAt: string }> {
  const { db, days } = deps;
  const { deletesAt } =
    (await store.findDeletionOf(db, userId)) ?? (await addWithJob(deps, userId, { days, mails: true }));
  await deps.endSessions(userId);
  return { deletesAt: deletesAt.toISOString() };
}

interface Order {
  readonly days: number;
  readonly mails: boolean;
  /** How long the job leaves the deletion to its caller. */
  readonly delayMs?: number;
}

async function addWithJob({ db, jobs }: AccountContext, userId: string, { delayMs = 0, ...order }: Order) {
  const [profile] = await findById(db, userId);
  if (profile === undefined) throw problems.not_found({ message: 'There is no user with this id.' });
  const { email, language } = profile;
  return transaction(db, async (tx) => {
    const ended = await store.removeEnded(tx, userId);
    if (ended !== undefined) await jobs.cancel(tx, deletionQueue, ended);
    const added = await store.addDeletion(tx, { userId, email, language, ...order });
    const deletion = added ?? (await store.findDeletionOf(tx, userId));
    if (deletion === undefined) throw problems.engine_unavailable();
    const { deletionId } = deletion;
    if (added !== undefined) await jobs.enqueue(tx, deletionQueue, { deletionId }, { key: deletionId, delayMs });
    return deletion;
  });
}

/** When the account is deleted. `undefined`: no deletion is scheduled. */
export async function readDeletion({ db }: AccountContext, userId: string): Promise<Date | undefined> {
  return (await store.findDeletionOf(db, userId))?.deletesAt;
}

/** Takes a scheduled deletion back. Nothing happens if there is none. Throws 409 if it has begun. */
export async function restoreAccount({ db, jobs }: AccountContext, userId: string): Promise<void> {
  await transaction(db, async (tx) => {
    const deletionId = await store.takeBack(tx, userId);
    if (deletionId !== undefined) await jobs.cancel(tx, deletionQueue, deletionId);
    else if ((await store.findDeletionOf(tx, userId)) !== undefined) throw authProblems.deletion_begun();
  });
}

/** A process that ends during an erasure is continued after this time. */
const takenOverAfterMs = 120_000;

/** Erases the person in this call. If a service fails, the report names it, and a job continues. */
export async function eraseNow(
  deps: AccountContext,
  userId: string,
  { mails, headers }: { readonly mails: boolean; readonly headers: Readonly<Record<string, string>> },
): Promise<ErasureReport> {
  const { db, jobs } = deps;
  const deletion = await addForErasure(deps, userId, mails);
  // A repeated erasure, or an id that signed in nowhere.
  if (deletion === undefined) return erasePerson(deps, { userId, email: null, headers });
  const { deletionId, stage } = deletion;
  await store.setStage(db, deletionId, ['requested', 'announced'], 'erasing');
  // The last mail stays, so that it is not sent again.
  const email = stage === 'erased' ? null : deletion.email;
  const report = await erasePerson(deps, { userId, email, headers });
  if (!report.isComplete) return report;
  await transaction(db, async (tx) => {
    await finishErasure(deps, tx, deletion);
    await jobs.hasten(tx, deletionQueue, deletionId);
  });
  return report;
}

async function addForErasure(deps: AccountContext, userId: string, mails: boolean) {
  const pending = await store.findDeletionOf(deps.db, userId);
  if (pending !== undefined) return pending;
  return addWithJob(deps, userId, { days: 0, mails, delayMs: takenOverAfterMs }).catch((error: unknown) => {
    if (error instanceof Problem && error.status === 404) return undefined;
    throw error;
  });
}

/** The event is published once, by the process that sets the stage. */
async function finishErasure({ webhooks }: AccountContext, tx: Tx<AuthTables>, { deletionId, userId }: Person) {
  if (await store.setStage(tx, deletionId, ['erasing'], 'erased'))
    await webhooks.publish(tx, 'account.deleted', { userId });
}

type Person = Pick<store.Deletion, 'deletionId' | 'userId'>;

export function startDeleting(deps: AccountContext): void {
  deps.jobs.work(deletionQueue, (job) => proceed(deps, job), { concurrency: 2 });
}

async function proceed(deps: AccountContext, job: Job<DeletionJob>): Promise<void> {
  const { db } = deps;
  const { deletionId } = job.payload;
  const deletion = await store.findDeletion(db, deletionId);
  if (deletion === undefined) return;
  const { stage, userId, email, dueInMs } = deletion;
  const hasBegun = stage !== 'requested' && stage !== 'announced';
  if (!hasBegun && dueInMs > 0) {
    if (stage === 'requested') await mail(deps, deletion, 'account_deletion.scheduled', job);
    await transaction(db, async (tx) => {
      await store.setStage(tx, deletionId, ['requested'], 'announced');
      await job.postpone(tx, dueInMs);
    });
    return;
  }
  // Without a row, the person has just taken the deletion back.
  if (!hasBegun && !(await store.setStage(db, deletionId, ['requested', 'announced'], 'erasing'))) return;
  if (stage !== 'erased' && stage !== 'mailed') {
    const { steps, isComplete } = await erasePerson(deps, { userId, email, headers: {} });
    if (!isComplete) throw new Error(steps.map(({ service, status }) => `${service}: ${status}`).join(', '));
    await transaction(db, (tx) => finishErasure(deps, tx, deletion));
  }
  if (stage !== 'mailed') {
    await mail(deps, deletion, 'account_deletion.deleted', job);
    await store.setStage(db, deletionId, ['erased'], 'mailed');
  }
  const left = await deps.forgetJobs([userId, ...(email === null ? [] : [email.toLowerCase()])]);
  await transaction(db, async (tx) => {
    if (left > 0) return job.postpone(tx, forgottenAgainAfterMs);
    await store.removeDeletion(tx, deletionId);
    await job.complete(tx);
  });
}

/** Jobs that clear up after processes that were late are due 90 s after the erasure. */
const forgottenAgainAfterMs = 30_000;

async function mail(
  { clients: { notify }, log }: AccountContext,
  { deletionId, userId, email, language, mails, deletesAt }: store.Deletion,
  type: string,
  { signal }: Job<DeletionJob>,
): Promise<void> {
  if (!mails || email === null) return;
  const contact = { email, locale: language ?? undefined };
  const data = { deletion_at: deletesAt.toISOString() };
  await sendMail({ notify, log }, { payload: { key: `${type} ${deletionId}`, type, userId, contact, data }, signal });
}

// Erases a person from all services. Each step can be repeated. The shared records are last: as long as another service
// has not finished, operators still find the person and can continue.

interface ErasedPerson {
  readonly userId: string;
  /** `null`: there is none, or a repeated erasure finds no profile. */
  readonly email: string | null;
  /** The name of the operator, for the audit logs of the services. */
  readonly headers: Headers;
}

type ErasureStep = ErasureReport['steps'][number];
type Clients = AccountContext['clients'];
type Erased = Partial<ErasedRecords>;
type Headers = Readonly<Record<string, string>>;

/** Never throws for a service that fails: the report names it. */
async function erasePerson(
  { clients, eraseRecords }: AccountContext,
  { userId, email, headers }: ErasedPerson,
): Promise<ErasureReport> {
  // Runs end first, so that they add nothing to the other services.
  const agent = await step('agent', () => eraseConversations(clients, userId, headers));
  const others = await Promise.all([
    step('media', () => eraseAssets(clients, userId, headers)),
    step('memory', () => eraseMemories(clients, userId, headers)),
    step('notify', () => eraseMails(clients, userId, email, headers)),
  ]);
  const before = [agent, ...others];
  const isReady = before.every(({ entry }) => entry.status === 'done');
  const auth = isReady ? await step('auth', () => eraseRecords(userId)) : waiting('auth');
  const { pending = 0, provider = null } = auth.erased;
  const steps = [...before, auth].map(({ entry }) => entry);
  return { steps, isComplete: steps.every(({ status }) => status === 'done'), pendingJobs: pending, provider };
}

interface Outcome {
  readonly entry: ErasureStep;
  readonly erased: Erased;
}

async function step(service: ErasureStep['service'], erase: () => Promise<Erased | undefined>): Promise<Outcome> {
  try {
    const erased = (await erase()) ?? {};
    return { entry: { service, status: 'done', removed: erased.removed ?? {}, message: null }, erased };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { entry: { service, status: 'failed', removed: {}, message: error.message }, erased: {} };
  }
}

const waiting = (service: ErasureStep['service']): Outcome => ({
  entry: { service, status: 'waiting', removed: {}, message: null },
  erased: {},
});

async function eraseConversations({ agent }: Clients, userId: string, headers: Headers) {
  return bodyOf<Erased>(await agent.send({ method: 'DELETE', route: '/people/:userId', params: { userId }, headers }));
}

async function eraseAssets({ media }: Clients, userId: string, headers: Headers) {
  return bodyOf<Erased>(
    await media.send({ method: 'DELETE', route: '/v1/people/:userId', params: { userId }, headers }),
  );
}

async function eraseMemories({ memory }: Clients, userId: string, headers: Headers) {
  return bodyOf<undefined>(
    await memory.send({
      method: 'DELETE',
      route: '/entities/:entity_type/:entity_id',
      params: { entity_type: 'user', entity_id: userId },
      headers,
    }),
  );
}

async function eraseMails({ notify }: Clients, userId: string, address: string | null, headers: Headers) {
  return bodyOf<Erased>(
    await notify.send({
      method: 'POST',
      route: '/people/erasure',
      json: { userId, address },
      headers,
      idempotent: true,
    }),
  );
}
