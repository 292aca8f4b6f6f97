/**
 * Erases a person from the shared records, as the last of all services: the profile stays until the others have
 * finished, so operators still find the person after a failure. Every step can be repeated.
 */
import type { RawBuilder } from 'kysely';
import { type Db, transaction } from '#platform/db/db.ts';
import { countJobsAbout, forgetJobs } from '#platform/jobs/forgetting.ts';
import type { JobTables } from '#platform/jobs/jobs.ts';
import type { Erased } from './api.ts';
import { deletePerson, findById, type PeopleTables } from './peoplestore.ts';

export interface PersonErasureDeps {
  readonly db: Db<PeopleTables>;
  readonly jobTables: Db<JobTables>;
  /** Waiting jobs that can be dropped: events that were not delivered yet. */
  readonly droppedJobs: RawBuilder<boolean>;
  /** Deletes the account at the identity provider. Throws 503 if it does not. */
  readonly removeAccount: (userId: string) => Promise<Erased['provider']>;
  /** Ends the sessions of the user. */
  readonly endSessions: (userId: string) => Promise<void>;
}

export async function erasePerson(deps: PersonErasureDeps, userId: string): Promise<Erased> {
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
