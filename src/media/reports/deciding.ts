/**
 * `POST /v1/incidents/:id/decision` (docs/specification/media.md#reports). One transaction hides the content and its pages, and
 * writes the jobs for what is left: the bytes, and the mails.
 */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { mailQueueOf, type QueuedMail } from '#accounts/mailing.ts';
import type { Caller } from '#platform/access/caller.ts';
import { type Tx, transaction } from '#platform/db/db.ts';
import type { Job, Jobs, Queue } from '#platform/jobs/jobs.ts';
import { problems } from '#platform/problem.ts';
import { findAsset, type StoredAsset } from '../assets/assetstore.ts';
import { renditionKeyOf, renditionMime } from '../assets/storagekey.ts';
import type { MediaContext, MediaStores } from '../context.ts';
import { deleteAssets } from '../deletion/deletion.ts';
import { removeObjects } from '../deletion/removal.ts';
import type { Incident } from '../incidents/api.ts';
import { readIncident } from '../incidents/incidents.ts';
import { currentRows } from '../lookup/assetlookup.ts';
import { nobody } from '../people/peoplestore.ts';
import { mediaProblems } from '../problems.ts';
import { flagAsset } from '../screening/incidentstore.ts';
import type { Hit } from '../screening/labels.ts';
import { dropSharesOfThread, hideShares } from '../shares/sharestore.ts';
import { withInvalidation } from '../signing/signedurlcache.ts';
import type { MediaTables } from '../tables.ts';
import type { DecisionRequest, OwnDecisions } from './api.ts';
import * as store from './reportstore.ts';

const payload = z.object({
  decision: z.enum(['restrict', 'remove']),
  assetId: z.string(),
  /** Where the bytes were, and where only the owner finds them. */
  from: z.string(),
  to: z.string(),
});
type DecisionJob = z.output<typeof payload>;

/** Without an end: content that was decided about must not stay. */
export const decisionQueue: Queue<DecisionJob> = { name: 'media/decisions', payload, maxAttempts: 1000 };

/**
 * Throws 404, and 409 for content that screening blocked. The same decision again changes nothing and sends no email, unless it answers
 * an appeal.
 */
export async function decide(deps: MediaContext, id: string, request: DecisionRequest): Promise<Incident> {
  const { decision, statement, mailOwner = true } = request;
  // Read before: the cache forgets what the transaction hides.
  const shown = await affectedBefore(deps, id);
  const removed = await withInvalidation(deps, shown, () =>
    transaction(deps.db, async (tx) => {
      const incident = await store.lockIncident(tx, id);
      if (incident === undefined) throw noSuchIncident();
      if (incident.check !== 'report' && incident.check !== 'flag') throw mediaProblems.not_decidable();
      if (incident.decision === decision && incident.statement === statement && !incident.isAppealed) return [];
      const { ownerId, threadId, kind } = incident;
      const affected = await store.findAffected(tx, ownerId, await store.contentOf(tx, incident));
      const isDismissed = decision === 'dismiss';
      const ids = affected.map((row) => row.assetId);
      const others = isDismissed && threadId !== null ? await store.findHiddenAlone(tx, ownerId, ids) : [];
      const assetIds = ids.filter((one) => others.every(({ assetId }) => assetId !== one));
      await store.writeDecision(tx, id, decision, statement);
      if (decision === 'remove' && threadId !== null) await dropSharesOfThread(tx, ownerId, threadId);
      if (isDismissed) await store.releaseAssets(tx, assetIds);
      else await hide(deps, tx, affected, decision);
      await hideShares(tx, ownerId, threadId, assetIds, !isDismissed);
      const decided = { ownerId: mailOwner && ownerId !== nobody ? ownerId : null, kind, decision, statement };
      // Operators find the jobs of the emails by the id of the incident.
      await enqueueMails(deps, tx, decided, await store.listReports(tx, id), `${id}:${randomUUID()}`);
      return decision === 'remove' ? assetIds : [];
    }),
  );
  // At once if the engines respond. Otherwise, the jobs remove it.
  if (removed.length > 0) await removeNow(deps, removed).catch(() => undefined);
  return readIncident(deps, id);
}

/** In the transaction of a decision or of a rule. The jobs move or remove the bytes. */
async function hide(
  { jobs }: MediaStores,
  tx: Tx<MediaTables>,
  affected: Awaited<ReturnType<typeof store.findAffected>>,
  decision: DecisionJob['decision'],
): Promise<void> {
  await store.restrictAssets(
    tx,
    affected.map(({ assetId }) => assetId),
  );
  for (const { assetId, backend, storageKey: from } of affected) {
    // The bytes of a legacy file belong to another system, and its path is blocked.
    if (decision === 'restrict' && backend === 'legacy') continue;
    await jobs.enqueue(tx, decisionQueue, { decision, assetId, from, to: hiddenKeyOf(from) });
  }
}

/** Flags an asset that is readable already, and restricts it as a decision does. Without a statement, so without emails. */
export function applyRule(
  deps: MediaStores,
  { assetId, ownerId, restrictedAt }: Pick<StoredAsset, 'assetId' | 'ownerId' | 'restrictedAt'>,
  { label, action }: Hit,
): Promise<void> {
  return transaction(deps.db, async (tx) => {
    await flagAsset(tx, assetId, label);
    if (action !== 'restrict' || restrictedAt !== null) return;
    const affected = await store.findAffected(tx, ownerId, [assetId]);
    await hide(deps, tx, affected, 'restrict');
    const assetIds = affected.map((row) => row.assetId);
    await hideShares(tx, ownerId, null, assetIds, true);
  });
}

const mostDecisions = 100;

/** Throws 403 for servers. */
export async function readOwnDecisions({ db }: MediaContext, caller: Caller): Promise<OwnDecisions> {
  if (caller.kind !== 'user')
    throw problems.forbidden({ message: 'Only the owner of the content can list decisions.' });
  const rows = await store.listDecisions(db, caller.userId, mostDecisions);
  return {
    decisions: rows.map(({ resolvedAt, appealedAt, isAppealed, ...row }) => ({
      ...row,
      at: resolvedAt.toISOString(),
      appealedAt: appealedAt?.toISOString() ?? null,
      isAppealOpen: isAppealed,
    })),
  };
}

const noSuchIncident = () => problems.not_found({ message: 'There is no such incident.' });

function affectedBefore({ db }: MediaContext, id: string): Promise<readonly string[]> {
  return transaction(db, async (tx) => {
    const incident = await store.lockIncident(tx, id);
    if (incident === undefined) throw noSuchIncident();
    return (await store.findAffected(tx, incident.ownerId, await store.contentOf(tx, incident))).map(
      (row) => row.assetId,
    );
  });
}

async function removeNow(deps: MediaContext, assetIds: readonly string[]): Promise<void> {
  await deleteAssets(deps, { kind: 'internal' }, { ids: [...assetIds], legacyBucket: '' });
}

/** Of the same asset, so that deletions and sweeps know it. */
function hiddenKeyOf(storageKey: string): string {
  const dot = storageKey.indexOf('.', storageKey.lastIndexOf('/'));
  const end = storageKey.slice(storageKey.lastIndexOf('.'));
  return `${storageKey.slice(0, dot)}.${randomUUID().slice(0, 8)}${end}`;
}

/**
 * Ends the addresses that were given out before the decision: the bytes of removed content go, and those of restricted content move to
 * another key. Every step can be repeated.
 */
export async function carryOut(deps: MediaContext, job: Job<DecisionJob>): Promise<void> {
  const { decision, assetId, from, to } = job.payload;
  if (decision === 'remove') return removeNow(deps, [assetId]);
  const found = await findAsset(deps.db, assetId);
  const place = { backend: 'objects', bucket: deps.objects.bucket } as const;
  const [row] = found === undefined ? [] : await currentRows(deps, [{ ...found, ...place }]);
  if (row === undefined) return;
  if (row.restrictedAt !== null && row.storageKey === from) {
    const { objects } = deps;
    const copied = await objects.copy(from, to, { contentType: row.mime, ifMatch: row.etag });
    // Deleted since.
    if (copied === undefined) return;
    if ((await objects.head(renditionKeyOf(from))) !== undefined)
      await objects.copy(renditionKeyOf(from), renditionKeyOf(to), { contentType: renditionMime });
    const move = { assetId, from, key: to, etag: copied.etag };
    const isMoved = await withInvalidation(deps, [assetId], () => store.moveAsset(deps.db, move));
    if (!isMoved) {
      await removeObjects(deps, [{ backend: 'objects', bucket: objects.bucket, storageKey: to }]);
      return;
    }
  }
  if ((await findAsset(deps.db, assetId))?.storageKey === from) return;
  await removeObjects(deps, [{ backend: 'objects', bucket: deps.objects.bucket, storageKey: from }]);
}

// The mails about a decision, as jobs that the transaction of the decision writes.

export const decisionMailQueue = mailQueueOf('media/decision-mail');

/** `ownerId: null`: the owner gets no email. */
type Decided = Pick<DecisionRequest, 'decision' | 'statement'> & Readonly<{ ownerId: string | null; kind: string }>;
type Reporter = Awaited<ReturnType<typeof store.listReports>>[number];

const bareAddress = /^[^\s@<>(),;:"\\[\]]{1,64}@[^\s@<>(),;:"\\[\]]{1,255}$/;

/** One to the owner, and one to each address or account that reported it. */
async function enqueueMails(
  { jobs }: { readonly jobs: Pick<Jobs, 'enqueue'> },
  tx: Tx<MediaTables>,
  { ownerId, kind, decision, statement }: Decided,
  reporters: readonly Reporter[],
  decisionId: string,
): Promise<void> {
  const data = { decision, statement, kind };
  const mails = new Map<string, QueuedMail>();
  const add = (recipient: string, mail: Omit<QueuedMail, 'key' | 'data'>) => {
    if (!mails.has(recipient)) mails.set(recipient, { ...mail, key: `${decisionId}:${recipient}`, data });
  };
  if (ownerId !== null) add('owner', { type: 'content.decision', userId: ownerId, contact: null });
  for (const { id, userId, contact, language } of reporters) {
    const email = contact !== null && bareAddress.test(contact) ? contact : undefined;
    if (email !== undefined)
      add(`report ${email.toLowerCase()}`, {
        type: 'report.decision',
        userId: userId ?? id,
        contact: { email, ...(language !== null && { locale: language }) },
      });
    else if (userId !== null) add(`report ${userId}`, { type: 'report.decision', userId, contact: null });
  }
  for (const mail of mails.values()) await jobs.enqueue(tx, decisionMailQueue, mail, { key: mail.key });
}
