/** What the operators' endpoints of people use. */

import type { RawBuilder } from 'kysely';
import type { Db } from '#platform/db/db.ts';
import type { JobTables } from '#platform/jobs/jobs.ts';
import type { Log } from '#platform/log.ts';
import type { Erased } from './api.ts';
import type { PeopleTables } from './peoplestore.ts';

export interface PeopleContext {
  readonly db: Db<PeopleTables>;
  /** When an operator last ended the sessions of a user. */
  readonly findSessionsEnd: (userId: string) => Promise<Date | undefined>;
  readonly jobTables: Db<JobTables>;
  /** Waiting jobs that can be dropped: events that were not delivered yet. */
  readonly droppedJobs: RawBuilder<boolean>;
  /** Deletes the account at the identity provider. Throws 503 if it does not. */
  readonly removeAccount: (userId: string) => Promise<Erased['provider']>;
  /** Ends the sessions of the user. */
  readonly endSessions: (userId: string) => Promise<void>;
  readonly log: Log;
}
