/** What the features of the console use. */

import type { AccountTables } from '#accounts/store.ts';
import type { TokenVerifier } from '#platform/access/access.ts';
import type { Clock } from '#platform/clock.ts';
import type { Db } from '#platform/db/db.ts';
import type { JobTables } from '#platform/jobs/jobs.ts';
import type { Log } from '#platform/log.ts';
import type { ConsoleInfo, History, Overview } from './api.ts';
import type { MemoryBackOffice } from './memories.ts';
import type { OperatorRoles } from './operators/roles.ts';
import type { ServiceClients, TraceLink } from './services.ts';
import type { Sessions } from './sessions.ts';
import type { SettingsSource } from './settings/routes.ts';

export interface ServiceHistory {
  /** Looks at all services, and adds what they counted since the last look. */
  sample(): Promise<void>;
  read(): History;
}

export interface ConsoleContext {
  readonly log: Log;
  readonly clock: Clock;
  /** `undefined`: the database is open in another process, so there are no jobs. */
  readonly db: Db<JobTables & AccountTables> | undefined;
  readonly sessions: Sessions;
  /** `undefined`: no operators are named. */
  readonly identity: { readonly tokens: TokenVerifier; readonly roles: OperatorRoles } | undefined;
  /** Maps a service to the URL at which this process reaches it. */
  readonly services: Readonly<Record<string, string>>;
  readonly engines: Overview['engines'];
  /** Maps a service to its public URL. */
  readonly addresses: ConsoleInfo['addresses'];
  /** The pages show pictures of home cards from these hosts only. */
  readonly pictureHosts: readonly string[];
  /** The local identity provider runs. */
  readonly hasDemoUsers: boolean;
  /** The folder where mail is stored as files, if there is one. */
  readonly outbox: string | undefined;
  /** `folder`: of the local CMS. `host`: of another one. */
  readonly cms: { readonly folder?: string; readonly host?: string; readonly editUrl?: string | undefined };
  readonly memory: MemoryBackOffice | undefined;
  /** `undefined`: no webhooks are set. `receiver`: WEBHOOK_URL, without the parts of its path and query that can be secrets. */
  readonly deliveries: { readonly db: Db<JobTables>; readonly receiver: string } | undefined;
  readonly traceLink: TraceLink;
  /** `undefined`: no internal key is configured. */
  readonly clients: ServiceClients | undefined;
  readonly settings: SettingsSource;
  readonly history: ServiceHistory;
  /** For tests. */
  readonly sampleEveryMs?: number | undefined;
}

/** In the process that has the database open. */
export interface StoredContext extends ConsoleContext {
  readonly db: NonNullable<ConsoleContext['db']>;
}
