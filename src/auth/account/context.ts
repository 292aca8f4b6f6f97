/** What the deletion and the export of accounts use. */

import type { Erased as ErasedRecords } from '#accounts/people/api.ts';
import type { ExportedServices } from '#accounts/people/exporting.ts';
import type { Db } from '#platform/db/db.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import type { Log } from '#platform/log.ts';
import type { Webhooks } from '#webhooks/publishing.ts';
import type { AuthTables } from '../tables.ts';

export interface AccountContext {
  readonly db: Db<AuthTables>;
  readonly jobs: Jobs;
  readonly webhooks: Webhooks;
  readonly log: Log;
  /** ACCOUNT_DELETION_DAYS. */
  readonly days: number;
  readonly endSessions: (userId: string) => Promise<void>;
  /** Removes finished jobs that mention one of these words, and returns the number of others that do. */
  readonly forgetJobs: (words: readonly string[]) => Promise<number>;
  readonly clients: ExportedServices;
  readonly eraseRecords: (userId: string) => Promise<ErasedRecords>;
  /** Ends the other sessions of the token's user at the identity provider. Throws 503. */
  readonly revokeOthers: (accessToken: string) => Promise<void>;
  readonly findSessionsEnd: (userId: string) => Promise<Date | undefined>;
  /** The public URL of this service, without a trailing slash. */
  readonly publicUrl: string;
}
