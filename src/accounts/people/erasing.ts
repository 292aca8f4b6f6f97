/**
 * Erases a person from the shared records, as the last of all services: the profile stays until the others have
 * finished, so operators still find the person after a failure. Every step can be repeated.
 */

import { transaction } from '#platform/db/db.ts';
import { countJobsAbout, forgetJobs } from '#platform/jobs/forgetting.ts';
import type { Erased } from './api.ts';
import type { PeopleContext } from './context.ts';
import { deletePerson, findById } from './peoplestore.ts';

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
