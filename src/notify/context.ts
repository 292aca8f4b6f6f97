/** What the features of the service use. */

import type { AccountTables } from '#accounts/store.ts';
import type { Db } from '#platform/db/db.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import type { Log } from '#platform/log.ts';
import type { Webhooks } from '#webhooks/publishing.ts';
import type { Brand } from './brand.ts';
import type { Channel } from './channels/channel.ts';
import type { Outcomes } from './outcomes.ts';
import type { NotifyTables } from './tables.ts';
import type { ReadTrending } from './trending.ts';
import type { TypeRegistry } from './types/registry.ts';

export interface NotifyContext {
  readonly db: Db<NotifyTables>;
  readonly jobs: Jobs;
  readonly channel: Channel;
  readonly outcomes: Outcomes;
  readonly log: Log;
  /** Called after each attempt. */
  readonly onOutcome: (outcome: 'sent' | 'failed' | 'suppressed') => void;
  readonly types: TypeRegistry;
  readonly readTrending: ReadTrending;
  readonly accounts: Db<AccountTables>;
  /** NOTIFY_FROM. */
  readonly from: string;
  /** The URL of the button. */
  readonly appUrl: string;
  /** The page of the content service, without its query. */
  readonly unsubscribeUrl: string;
  readonly unsubscribeSecret: string;
  readonly brand: Brand;
  readonly webhooks?: Webhooks | undefined;
  /** Whether INTERNAL_KEY is set. Without it, every response is 500 (docs/specification/notify.md#notify-endpoints). */
  readonly isKeyConfigured: boolean;
}
