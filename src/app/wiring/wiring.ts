/** What one service is wired from: its part of the configuration, the engines it asks for, and what every server has. */
import type { ServerCommons } from '#platform/http/server.ts';
import type { Log } from '#platform/log.ts';
import type { Config } from '../config.ts';
import type { Engines } from '../engines.ts';
import type { ServiceLease } from '../servicelease.ts';

export interface Wiring {
  readonly config: Config;
  readonly engines: Engines;
  readonly server: ServerCommons;
  readonly log: Log;
  /** Where one process alone may run the service: what it keeps in memory is void when it was not alone for a while. */
  readonly serviceLease?: ServiceLease;
}
