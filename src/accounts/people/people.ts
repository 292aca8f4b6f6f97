/** People as operators find and change them (docs/specification/records.md#people). */

import type { RawBuilder } from 'kysely';
import { auditOf, findActions, type ShownAction } from '#platform/audit/audit.ts';
import { type Db, transaction } from '#platform/db/db.ts';
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
import {
  deletePerson,
  findByEmailStart,
  findById,
  findChangeOwner,
  findSurroundings,
  findTargets,
  listCreditChanges,
  listEmails,
  listPeople,
  lockAccount,
  type PeopleTables,
  type PersonPlace,
  writeCreditChange,
} from './peoplestore.ts';

type Row = Awaited<ReturnType<typeof findById>>[number];

const shownChanges = 50;
/** Actions of a page whose users are looked for. */
const mostNamed = 100;

/** Throws 400 for a cursor that no page returned. */
export async function readPeople(
  { db }: PeopleContext,
  { q = '', limit, cursor, plan, order }: PeopleListing,
): Promise<PeoplePage> {
  const words = q.trim().toLowerCase();
  if (words !== '') {
    const rows = isUuid(words) ? await findById(db, words) : await findByEmailStart(db, words, limit, plan);
    return { people: rows.map(toPerson), next_cursor: null };
  }
  // One row more than the page shows whether there is another page.
  const rows = await listPeople(
    db,
    { plan, order, after: cursor === undefined ? undefined : readCursor(cursor) },
    limit + 1,
  );
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  return { people: page.map(toPerson), next_cursor: last === undefined ? null : writeCursor(placeOf(last, order)) };
}

export async function readNames({ db }: PeopleContext, ids: readonly string[]): Promise<Names> {
  return { names: Object.fromEntries((await listEmails(db, ids)).map(({ id, email }) => [id, email])) };
}

/** Throws 404. */
export async function readPerson(
  deps: Pick<PeopleContext, 'db' | 'findSessionsEnd'>,
  userId: string,
): Promise<Omit<PersonDetails, 'sessions'>> {
  const { db, findSessionsEnd } = deps;
  const [row] = await findById(db, userId);
  if (row === undefined) throw problems.not_found({ message: 'There is no user with this id.' });
  const [{ isOpenNotification, invitedBy, invited }, endedAt, changes, { actions }] = await Promise.all([
    findSurroundings(db, userId),
    findSessionsEnd(userId),
    listCreditChanges(db, userId, shownChanges),
    findActions(auditOf(db), { userId, limit: shownChanges }),
  ]);
  return {
    person: toPerson(row),
    settings: { isOpenNotification },
    invitedBy,
    invited,
    sessionsEndedAt: endedAt?.toISOString() ?? null,
    changes: changes.map(({ createdAt, ...change }) => ({ ...change, createdAt: createdAt.toISOString() })),
    actions: actions.map(({ at, actor, action, outcome }) => ({ at, actor, action, outcome })),
  };
}

/** Searches the audit log page by page. Filters leave a page with fewer actions, or none, although there is a next one. */
export async function readActions({ db }: PeopleContext, query: ActionSearch): Promise<ActionPage> {
  const { cursor, ...search } = query;
  const { actions, next } = await findActions(auditOf(db), { ...search, before: cursor });
  const hashes = actions
    .map(({ target }) => target)
    .filter((target) => target.startsWith('sha256 '))
    .slice(0, mostNamed);
  const [newest] = actions;
  const users =
    newest === undefined || hashes.length === 0
      ? new Map<string, string>()
      : await findTargets(db, hashes, newest.at, search.userId);
  const changes = new Map<string, Changes>();
  for (const { action, target } of actions) {
    const userId = users.get(target);
    if (userId !== undefined && isOfCredits(action) && !changes.has(userId))
      changes.set(userId, await listCreditChanges(db, userId, shownChanges));
  }
  return {
    actions: actions.map((action) => {
      const userId = users.get(action.target) ?? null;
      return { ...action, userId, change: changeOf(action, changes.get(userId ?? '') ?? []) };
    }),
    next_cursor: next === null ? null : String(next),
  };
}

type Changes = Awaited<ReturnType<typeof listCreditChanges>>;

const isOfCredits = (action: string) => action.endsWith('credits');

/** An action is recorded right after its change. */
const recordedWithinMs = 60_000;

function changeOf({ action, actor, at, outcome }: ShownAction, changes: Changes): CreditChange | null {
  if (!isOfCredits(action) || !/^(2\d\d|done)$/.test(outcome)) return null;
  const ageOf = ({ createdAt }: Changes[number]) => Date.parse(at) - createdAt.getTime();
  // Newest first.
  const found = changes.find((one) => one.actor === actor && ageOf(one) >= 0 && ageOf(one) < recordedWithinMs);
  return found === undefined ? null : { ...found, createdAt: found.createdAt.toISOString() };
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
    const before = await lockAccount(tx, userId);
    if (before === undefined) throw problems.not_found({ message: 'There is no user with this id.' });
    const owner = await findChangeOwner(tx, changeId);
    if (owner === userId) return;
    if (owner !== undefined) throw invalid('body.changeId', 'belongs to a change of another user');
    const after = { plan: plan ?? before.plan, credits: before.credits + credits };
    if (after.credits < 0 || after.credits > maxCredits) throw accountProblems.credits_out_of_range();
    await writeCreditChange(tx, { changeId, userId, actor, reason, before, after });
  });
  const [row] = await findById(db, userId);
  if (row === undefined) throw problems.not_found();
  return toPerson(row);
}

function toPerson({ createdAtUs: _us, createdAt, updatedAt, activeAt, ...row }: Row): Person {
  const at = { createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() };
  return { ...row, ...at, activeAt: activeAt?.toISOString() ?? null };
}

const placeOf = ({ id, createdAtUs, credits }: Row, order: PeopleListing['order']): PersonPlace => ({
  id,
  value: order === 'credits' ? String(credits) : createdAtUs,
});

const writeCursor = ({ value, id }: PersonPlace) => Buffer.from(`${value} ${id}`).toString('base64url');

function readCursor(text: string): PersonPlace {
  const [, value, id] = /^(\d{1,16}) (\S{36})$/.exec(Buffer.from(text, 'base64url').toString('latin1')) ?? [];
  if (value === undefined || id === undefined || !isUuid(id))
    throw invalid('querystring.cursor', 'must be a next_cursor');
  return { value, id };
}

// Erases a person from the shared records, as the last of all services: the profile stays until the others have
// finished, so operators still find the person after a failure. Every step can be repeated.

export async function erasePerson(deps: PeopleContext, userId: string): Promise<Erased> {
  const { db, jobTables, droppedJobs } = deps;
  const [profile] = await findById(db, userId);
  await deps.endSessions(userId);
  const provider = await deps.removeAccount(userId);
  const words = [userId, ...(profile?.email ? [profile.email.toLowerCase()] : [])];
  const jobs = await forgetJobs(jobTables, words, droppedJobs);
  const pending = await countJobsAbout(jobTables, words);
  const removed = await transaction(db, (tx) => deletePerson(tx, userId));
  return { removed: { ...removed, jobs }, pending, provider };
}

// What the operators' endpoints of people use.

export interface PeopleContext {
  readonly db: Db<PeopleTables>;
  /** When an operator last ended the sessions of a user. */
  readonly findSessionsEnd: (userId: string) => Promise<Date | undefined>;
  readonly listSessions: (userId: string) => Promise<PersonDetails['sessions']>;
  readonly jobTables: Db<JobTables>;
  /** Waiting jobs that can be dropped: events that were not delivered yet. */
  readonly droppedJobs: RawBuilder<boolean>;
  /** Deletes the account at the identity provider. Throws 503 if it does not. */
  readonly removeAccount: (userId: string) => Promise<Erased['provider']>;
  /** Ends the sessions of the user. */
  readonly endSessions: (userId: string) => Promise<void>;
  readonly log: Log;
}
