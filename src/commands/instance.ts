/** The running instance, for commands that have to go through it. */

import { addressesOf, type Config } from '#app/config.ts';
import { commandActor, operatorHeader } from '#platform/audit/audit.ts';
import { isFolderInUse } from '#platform/db/lock.ts';
import { createClient, type HttpClient } from '#platform/http/client.ts';
import { type Closers, StartFault } from '#platform/lifecycle.ts';

/** The database is a running instance's own: nobody else can open it. */
export function isEmbeddedInUse({ database, process: { dataDir } }: Config): boolean {
  return database.url === 'embedded' && isFolderInUse(dataDir);
}

/** Of one of its services, with an internal key. Throws StartFault without one. */
export function clientOfInstance(
  config: Config,
  closers: Closers,
  { service, timeoutMs }: { readonly service: 'media' | 'auth'; readonly timeoutMs: number },
): HttpClient {
  const [internalKey] = config.internal.keys;
  if (internalKey === undefined)
    throw new StartFault('INTERNAL_KEY: a running instance takes commands only with an internal key; set one.');
  const client = createClient({
    name: service,
    baseUrl: addressesOf(config)[service],
    ours: true,
    internalKey,
    timeoutMs,
  });
  closers.add('client', () => client.close());
  // The instance writes down who it was.
  const headers = { [operatorHeader]: commandActor() };
  return { ...client, send: (call) => client.send({ ...call, headers: { ...call.headers, ...headers } }) };
}
