/** The running instance, for commands that need to call it. */

import { addressesOf, type Config } from '#app/config.ts';
import { commandActor, operatorHeader } from '#platform/audit/audit.ts';
import { isFolderInUse } from '#platform/db/lock.ts';
import { createClient, type HttpClient } from '#platform/http/client.ts';
import { type Closers, StartFault } from '#platform/lifecycle.ts';

/** A running instance holds the embedded database, so no other process can open it. */
export function isEmbeddedInUse({ database, process: { dataDir } }: Config): boolean {
  return database.url === 'embedded' && isFolderInUse(dataDir);
}

/** Creates a client for one of its services with an internal key. Throws StartFault if no key is configured. */
export function clientOfInstance(
  config: Config,
  closers: Closers,
  { service, timeoutMs }: { readonly service: 'media' | 'auth'; readonly timeoutMs: number },
): HttpClient {
  const [internalKey] = config.internal.keys;
  if (internalKey === undefined)
    throw new StartFault('INTERNAL_KEY: commands need an internal key to call a running instance. Set one.');
  const client = createClient({
    name: service,
    baseUrl: addressesOf(config)[service],
    isInternal: true,
    internalKey,
    timeoutMs,
  });
  closers.add('client', () => client.close());
  // The instance records this name in its audit log.
  const headers = { [operatorHeader]: commandActor() };
  return { ...client, send: (call) => client.send({ ...call, headers: { ...call.headers, ...headers } }) };
}
