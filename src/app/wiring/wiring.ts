/** What one service needs: its part of the configuration, its engines and the server options. */
import type { ServerCommons } from '#platform/http/server.ts';
import type { Log } from '#platform/log.ts';
import type { Config, ServiceName } from '../config.ts';
import type { Engines } from '../engines.ts';
import type { ServiceLease } from '../servicelease.ts';

export interface Wiring {
  readonly config: Config;
  /** All services of the process. */
  readonly services: readonly ServiceName[];
  readonly engines: Engines;
  readonly server: ServerCommons;
  readonly log: Log;
  /** Present if only one process may run the service. In-memory state is invalid after another process held the lease. */
  readonly serviceLease?: ServiceLease;
}
