/** People as operators find and change them (docs/specification/records.md#people). */

import type { RawBuilder } from 'kysely';
import { actorNamed, auditOf, findActions, type ShownAction } from '#platform/audit/audit.ts';
import { type Db, type Tx, transaction } from '#platform/db/db.ts';
import { isUuid } from '#platform/ids.ts';
import { countJobsAbout, forgetJobs } from '#platform/jobs/forgetting.ts';
import type { JobTables } from '#platform/jobs/jobs.ts';
import type { Log } from '#platform/log.ts';
import { invalid, problems } from '#platform/problem.ts';
import { maxCredits } from '../api.ts';
import { accountProblems } from '../problems.ts';
import type {
  ActionPage,
  ActionSearch,
  CreditChange,
  CreditsChange,
  Erased,
  Names,
  PeopleListing,
  PeoplePage,
  Person,
  PersonDetails,
} from './api.ts';
import * as store from './peoplestore.ts';

type Row = Awaited<ReturnType<typeof store.findById>>[number];

const shownChanges = 50;
/** Actions of a page whose users are looked for. */
const mostNamed = 100;

/** Throws 400 for a cursor that no page returned. */
export async function readPeople(
  { db }: PeopleContext,
  { ids, q = '', limit, cursor, plan, status, order }: PeopleListing,
): Promise<PeoplePage> {
  const words = q.trim().toLowerCase();
  const filter = { plan, status };
  if (ids !== undefined || words !== '') {
    const found = () => (isUuid(words) ? store.findById(db, words) : store.findByEmail(db, words, limit, filter));
    const rows = await (ids === undefined ? found() : store.findByIds(db, ids, filter));
    return { people: rows.map(toPerson), next_cursor: null };
  }
  // One row more than the page shows whether there is another page.
  const rows = await store.listPeople(
    db,
    { ...filter, order, after: cursor === undefined ? undefined : readCursor(cursor) },
    limit + 1,
  );
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  return { people: page.map(toPerson), next_cursor: last === undefined ? null : writeCursor(placeOf(last, order)) };
}

export async function readNames({ db }: PeopleContext, ids: readonly string[]): Promise<Names> {
  return { names: Object.fromEntries((await store.listEmails(db, ids)).map(({ id, email }) => [id, email])) };
}

/** Throws 404. */
export async function readPerson(
  deps: Pick<PeopleContext, 'db' | 'findSessionsEnd'>,
  userId: string,
): Promise<Omit<PersonDetails, 'sessions'>> {
  const { db, findSessionsEnd } = deps;
  const [row] = await store.findById(db, userId);
  if (row === undefined) throw problems.not_found({ message: 'There is no user with this id.' });
  const [{ isOpenNotification, invitedBy, invited }, endedAt, changes, [block], { actions }] = await Promise.all([
    store.findSurroundings(db, userId),
    findSessionsEnd(userId),
    store.listCreditChanges(db, userId, shownChanges),
    store.listBlocks(db, userId, 1),
    findActions(auditOf(db), { userId, address: row.email, limit: shownChanges }),
  ]);
  return {
    person: toPerson(row),
    settings: { isOpenNotification },
    invitedBy,
    invited,
    sessionsEndedAt: endedAt?.toISOString() ?? null,
    block: row.blockedAt === null || block === undefined ? null : { actor: block.actor, reason: block.reason },
    changes: changes.map(({ createdAt, ...change }) => ({ ...change, createdAt: createdAt.toISOString() })),
    actions: actions.map(({ at, actor, action, outcome }) => ({ at, actor, action, outcome })),
  };
}

/** Searches the audit log page by page. Filters leave a page with fewer actions, or none, although there is a next one. */
export async function readActions({ db }: PeopleContext, query: ActionSearch): Promise<ActionPage> {
  const { cursor, ...search } = query;
  const { email: address = null } =
    search.userId === undefined ? {} : ((await store.findById(db, search.userId))[0] ?? {});
  const { actions, next } = await findActions(auditOf(db), { ...search, address, before: cursor });
  const hashes = actions.flatMap(({ subject }) => subject ?? []).slice(0, mostNamed);
  const [newest] = actions;
  const users =
    newest === undefined || hashes.length === 0
      ? new Map<string, string>()
      : await store.findTargets(db, hashes, newest.at, search.userId);
  const changes = new Map<string, Changes>();
  const blocks = new Map<string, Awaited<ReturnType<typeof store.listBlocks>>>();
  for (const { action, subject } of actions) {
    const userId = users.get(subject ?? '');
    if (userId === undefined) continue;
    if (isOfCredits(action) && !changes.has(userId))
      changes.set(userId, await store.listCreditChanges(db, userId, shownChanges));
    if (isBlock(action) && !blocks.has(userId)) blocks.set(userId, await store.listBlocks(db, userId, shownChanges));
  }
  return {
    actions: actions.map(({ subject, ...action }) => {
      const userId = users.get(subject ?? '') ?? null;
      const block = isBlock(action.action) ? recordOf(action, blocks.get(userId ?? '') ?? []) : undefined;
      const change = changeOf(action, changes.get(userId ?? '') ?? []);
      return { ...action, userId, change, reason: block?.reason ?? null };
    }),
    next_cursor: next === null ? null : String(next),
  };
}

type Changes = Awaited<ReturnType<typeof store.listCreditChanges>>;

const isOfCredits = (action: string) => action.endsWith('credits');
const isBlock = (action: string) => action === 'POST /v1/people/:userId/block';

/** An action is recorded right after its change. */
const recordedWithinMs = 60_000;

function changeOf(action: Omit<ShownAction, 'subject'>, changes: Changes): CreditChange | null {
  const found = isOfCredits(action.action) ? recordOf(action, changes) : undefined;
  return found === undefined ? null : { ...found, createdAt: found.createdAt.toISOString() };
}

/** The record that an action made. `records`: newest first. */
function recordOf<T extends { readonly actor: string; readonly createdAt: Date }>(
  { actor, at, outcome }: Omit<ShownAction, 'subject'>,
  records: readonly T[],
): T | undefined {
  if (!/^(2\d\d|done)$/.test(outcome)) return undefined;
  const ageOf = ({ createdAt }: T) => Date.parse(at) - createdAt.getTime();
  return records.find((one) => one.actor === actor && ageOf(one) >= 0 && ageOf(one) < recordedWithinMs);
}

/**
 * Adds credits or takes them, and sets the plan. The same `changeId` again changes nothing. Throws 404, and 409 if the
 * balance would be negative or too large.
 */
export async function changeCredits(
  { db }: PeopleContext,
  userId: string,
  actor: string,
  { changeId, plan, credits, reason }: CreditsChange,
): Promise<Person> {
  await transaction(db, async (tx) => {
    const before = await store.lockAccount(tx, userId);
    if (before === undefined) throw problems.not_found({ message: 'There is no user with this id.' });
    const owner = await store.findChangeOwner(tx, changeId);
    if (owner === userId) return;
    if (owner !== undefined) throw invalid('body.changeId', 'belongs to a change of another user');
    const after = { plan: plan ?? before.plan, credits: before.credits + credits };
    if (after.credits < 0 || after.credits > maxCredits) throw accountProblems.credits_out_of_range();
    await store.writeCreditChange(tx, { changeId, userId, actor, reason, before, after });
  });
  return findPerson(db, userId);
}

/**
 * Blocks the account, and ends its sessions in the same transaction. Of two operators, the first one counts. Throws 404, and 409 if
 * operators would block themselves.
 */
export async function blockPerson(
  { db, endSessions }: PeopleContext,
  userId: string,
  actor: string,
  reason: string,
): Promise<Person> {
  await transaction(db, async (tx) => {
    // Sessions before the profile, in the order of an erasure.
    await endSessions(userId, tx);
    const before = await store.lockAccount(tx, userId);
    if (before === undefined) throw problems.not_found({ message: 'There is no user with this id.' });
    if (actorNamed(before.email ?? '').toLowerCase() === actor.toLowerCase()) throw accountProblems.own_account();
    if (before.blockedAt !== null) return;
    await store.setBlocked(tx, userId, true);
    await store.insertBlock(tx, userId, actor, reason);
  });
  return findPerson(db, userId);
}

/** The sessions that the block ended stay ended. Throws 404. */
export async function unblockPerson({ db }: PeopleContext, userId: string): Promise<Person> {
  await transaction(db, (tx) => store.setBlocked(tx, userId, false));
  return findPerson(db, userId);
}

async function findPerson(db: PeopleContext['db'], userId: string): Promise<Person> {
  const [row] = await store.findById(db, userId);
  if (row === undefined) throw problems.not_found({ message: 'There is no user with this id.' });
  return toPerson(row);
}

function toPerson({ createdAtUs: _us, createdAt, updatedAt, activeAt, blockedAt, ...row }: Row): Person {
  const at = { createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() };
  return { ...row, ...at, activeAt: activeAt?.toISOString() ?? null, blockedAt: blockedAt?.toISOString() ?? null };
}

const placeOf = ({ id, createdAtUs, credits }: Row, order: PeopleListing['order']): store.PersonPlace => ({
  id,
  value: order === 'credits' ? String(credits) : createdAtUs,
});

const writeCursor = ({ value, id }: store.PersonPlace) => Buffer.from(`${value} ${id}`).toString('base64url');

function readCursor(text: string): store.PersonPlace {
  const [, value, id] = /^(\d{1,16}) (\S{36})$/.exec(Buffer.from(text, 'base64url').toString('latin1')) ?? [];
  if (value === undefined || id === undefined || !isUuid(id))
    throw invalid('querystring.cursor', 'must be a next_cursor');
  return { value, id };
}

// Erases a person from the shared records, as the last of all services: the profile stays until the others have
// finished, so operators still find the person after a failure. Every step can be repeated.

export async function erasePerson(deps: PeopleContext, userId: string): Promise<Erased> {
  const { db, jobTables, droppedJobs } = deps;
  const [profile] = await store.findById(db, userId);
  await deps.endSessions(userId);
  const provider = await deps.removeAccount(userId);
  const words = [userId, ...(profile?.email ? [profile.email.toLowerCase()] : [])];
  const jobs = await forgetJobs(jobTables, words, droppedJobs);
  const pending = await countJobsAbout(jobTables, words);
  const removed = await transaction(db, (tx) => store.deletePerson(tx, userId));
  return { removed: { ...removed, jobs }, pending, provider };
}

// What the operators' endpoints of people use.

export interface PeopleContext {
  readonly db: Db<store.PeopleTables>;
  /** When an operator last ended the sessions of a user. */
  readonly findSessionsEnd: (userId: string) => Promise<Date | undefined>;
  readonly listSessions: (userId: string) => Promise<PersonDetails['sessions']>;
  readonly jobTables: Db<JobTables>;
  /** Waiting jobs that can be dropped: events that were not delivered yet. */
  readonly droppedJobs: RawBuilder<boolean>;
  /** Deletes the account at the identity provider. Throws 503 if it does not. */
  readonly removeAccount: (userId: string) => Promise<Erased['provider']>;
  /** Ends the sessions of the user. */
  readonly endSessions: (userId: string, tx?: Tx<store.PeopleTables>) => Promise<void>;
  readonly log: Log;
}
