/** What one service needs: its part of the configuration, its engines and the server options. */

import { type Access, createAccess } from '#platform/access/access.ts';
import { systemClock as clock } from '#platform/clock.ts';
import type { ServerCommons } from '#platform/http/server.ts';
import type { Log } from '#platform/log.ts';
import { addressesOf, type Config, rateLimitOf, type ServiceName } from '../config.ts';
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

/** Access control for services that users and servers call (docs/specification/http.md#credentials). */
export function wireAccess({ config, log }: { readonly config: Config; readonly log: Log }): Access {
  return createAccess({
    internalKeys: config.internal.keys,
    jwksUrl: jwksUrlOf(config),
    rateLimitPerMinute: rateLimitOf(config),
    log,
    clock,
  });
}

export const jwksUrlOf = (config: Config): string =>
  config.identity.jwksUrl ?? `${addressesOf(config).idp}/auth/v1/.well-known/jwks.json`;
