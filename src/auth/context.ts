/** What the features of the service use. */

import type { FastifyRequest } from 'fastify';
import type { Welcome } from '#accounts/store.ts';
import type { Sealer } from '#platform/access/sealing.ts';
import type { Clock } from '#platform/clock.ts';
import type { Db } from '#platform/db/db.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import type { Log } from '#platform/log.ts';
import type { CookieRules } from './cookies.ts';
import type { SessionEnds } from './ending.ts';
import type { Provider } from './provider.ts';
import type { RefreshResults } from './refreshresults.ts';
import type { Rotation } from './rotation.ts';
import type { SessionSealer } from './sessions.ts';
import type { AuthTables } from './tables.ts';
import type { Targets } from './targets.ts';

export interface AuthContext {
  readonly targets: Targets;
  readonly cookies: CookieRules;
  /** Of this service, without a trailing slash. */
  readonly publicUrl: string;
  readonly provider: Provider;
  readonly sessionSealer: SessionSealer;
  readonly refreshResults: RefreshResults;
  readonly sessionEnds: SessionEnds;
  readonly welcome?: Welcome | undefined;
  readonly log: Log;
  /** How long the provider may take for one request of a browser, all calls together. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly rotation: Rotation;
  readonly db: Db<AuthTables>;
  readonly jobs: Jobs;
  readonly revocationSealer: Sealer;
  readonly clientAddressOf: (request: FastifyRequest) => string | undefined;
  /** ALLOWED_REDIRECT_ORIGINS: at least one, in the browser's spelling. */
  readonly allowedOrigins: readonly string[];
  readonly signInSealer: Sealer;
  readonly stateSealer: Sealer;
}
