/** The running instance, for commands that need to call it. */

import { addressesOf, type Config } from '#app/config.ts';
import { commandActor, operatorHeader } from '#platform/audit/audit.ts';
import { isFolderInUse } from '#platform/db/lock.ts';
import { createClient } from '#platform/http/client.ts';
import { type Closers, StartFault } from '#platform/lifecycle.ts';

/** A running instance holds the embedded database, so no other process can open it. */
export function isEmbeddedInUse({ database, process: { dataDir } }: Config): boolean {
  return database.url === 'embedded' && isFolderInUse(dataDir);
}

interface InstanceCall {
  readonly method: 'GET' | 'PUT' | 'POST';
  readonly path: string;
  readonly json?: unknown;
}

interface InstanceAnswer<Body> {
  readonly status: number;
  readonly body: Body;
}

/**
 * Returns one of its services, which is called with an internal key, under the name of the command's user. Calls must be safe to
 * repeat. Throws StartFault if no key is configured, if the service does not respond or if it refuses the call.
 */
export function serviceOfInstance(
  config: Config,
  closers: Closers,
  { service, timeoutMs }: { readonly service: 'media' | 'auth'; readonly timeoutMs: number },
) {
  const [internalKey] = config.internal.keys;
  if (internalKey === undefined)
    throw new StartFault('INTERNAL_KEY: commands need an internal key to call a running instance. Set one.');
  const baseUrl = addressesOf(config)[service];
  const client = createClient({ name: service, baseUrl, isInternal: true, internalKey, timeoutMs });
  closers.add('client', () => client.close());
  // The instance records this name in its audit log.
  const headers = { [operatorHeader]: commandActor() };
  async function send<Body>({ method, path, json }: InstanceCall): Promise<InstanceAnswer<Body>> {
    const call = { method, path, route: path.split('?')[0] ?? path, json, headers, idempotent: true };
    const response = await client.send(call).catch((cause: Error) => {
      const reason = `the ${service} service at ${baseUrl} is not responding`;
      throw new StartFault(`A running instance must do this, but ${reason}.`, { cause });
    });
    const body = response.json();
    if (response.status < 300) return { status: response.status, body: body as Body };
    const { message = 'no reason given' } = body as { readonly message?: string };
    throw new StartFault(`The ${service} service returned ${response.status}: ${message}`);
  }
  return { send };
}
