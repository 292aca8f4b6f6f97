/** Finds out why a browser hides a response: `fetch` rejects alike if a service is down and if it does not allow the page's origin. */
import { AtelierError } from './errors.ts';

/** Returns an error that names the origin if the service at `url` is reachable and does not allow it, in a browser only. */
export async function findRefusedOrigin(
  url: string,
  fetch: typeof globalThis.fetch,
  signal: AbortSignal,
): Promise<AtelierError | undefined> {
  const origin: unknown = Reflect.get(Object(Reflect.get(globalThis, 'location')), 'origin');
  const health = `${url}/health`;
  if (typeof origin !== 'string' || !/^https?:/.test(health) || new URL(health).origin === origin) return undefined;
  const isReadable = await isFulfilled(fetch(health, { signal }));
  if (isReadable || !(await isFulfilled(fetch(health, { mode: 'no-cors', signal })))) return undefined;
  const settings = 'ALLOWED_REDIRECT_ORIGINS and AGENT_ALLOWED_ORIGINS';
  return new AtelierError('forbidden_origin', `${url} does not allow pages of ${origin}: add it to ${settings}.`);
}

const isFulfilled = (promise: Promise<unknown>) =>
  promise.then(
    () => true,
    () => false,
  );
