/** What one service needs: its part of the configuration, its engines and the server options. */

import { accountProblems } from '#accounts/problems.ts';
import { type AccountTables, findProfile, isBlocked } from '#accounts/store.ts';
import { type Access, createAccess } from '#platform/access/access.ts';
import { createLru } from '#platform/cache/cache.ts';
import { systemClock as clock } from '#platform/clock.ts';
import type { Database } from '#platform/db/db.ts';
import { type ClientOptions, createClient, type HttpClient } from '#platform/http/client.ts';
import type { ServerCommons } from '#platform/http/server.ts';
import type { Log } from '#platform/log.ts';
import { withDeadline } from '#platform/resilience.ts';
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

/** Opens a client of another service, with the internal key. */
export function openClient(
  { config, server }: Pick<Wiring, 'config' | 'server'>,
  name: ServiceName,
  limits: Pick<ClientOptions, 'timeoutMs' | 'maxResponseBytes' | 'maxConnections'>,
): HttpClient {
  const [internalKey] = config.internal.keys;
  const baseUrl = addressesOf(config)[name];
  return createClient({ name, baseUrl, isInternal: true, internalKey, telemetry: server.telemetry, ...limits });
}

/** Access control for services that users and servers call (docs/specification/http.md#credentials). */
export function wireAccess({ config, log }: Pick<Wiring, 'config' | 'log'>, database: Database): Access {
  return createAccess({
    refuseChanges: refuseBlocked(database),
    internalKeys: config.internal.keys,
    jwksUrl: jwksUrlOf(config),
    rateLimitPerMinute: rateLimitOf(config),
    log,
    clock,
  });
}

const admittedForMs = 5000;
const databaseTimeoutMs = 2000;

/** Access tokens outlive a block, and the identity provider renews those of MCP clients. While the database is away, no request is refused. */
function refuseBlocked(database: Database): NonNullable<Parameters<typeof createAccess>[0]['refuseChanges']> {
  const admitted = createLru<string, number>(100_000);
  return async (userId, email) => {
    if ((admitted.get(userId) ?? 0) > clock.now()) return;
    const isRefused = async () => {
      const db = database.queries<AccountTables>();
      const profile = await findProfile(db, userId);
      // A new account has no address before its first sign-in in a browser.
      if (profile?.email == null && email !== undefined && (await isBlocked(db, email.toLowerCase()))) return true;
      return profile?.blockedAt != null;
    };
    if (await withDeadline(databaseTimeoutMs, isRefused).catch(() => false)) throw accountProblems.account_blocked();
    admitted.set(userId, clock.now() + admittedForMs);
  };
}

export const jwksUrlOf = (config: Config): string =>
  config.identity.jwksUrl ?? `${addressesOf(config).idp}/auth/v1/.well-known/jwks.json`;
