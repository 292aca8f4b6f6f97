import { type Access, createAccess } from '#platform/access/access.ts';
import { systemClock as clock } from '#platform/clock.ts';
import type { Log } from '#platform/log.ts';
import { addressesOf, type Config, rateLimitOf } from '../config.ts';

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
