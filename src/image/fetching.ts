/** Fetches a source from a caller's URL (docs/specification/image.md#sources). */

import { type Dispatcher, request } from 'undici';
import { readAtMost } from '#platform/http/bodies.ts';
import {
  connectOnlyTo,
  createGuard,
  ForbiddenUrl,
  type Guard,
  type GuardOptions,
  type HostAddress,
} from '#platform/http/hostguard.ts';
import { withDeadline } from '#platform/resilience.ts';
import { userAgent } from '#platform/version.ts';
import { ImageFault } from './engine/engine.ts';
import { maxSourceBytes, SourceFault, tooManyBytes, type VariantSource } from './engine/sources.ts';

/** The limit of one fetch: names, connections, redirects and the body. */
export const fetchTimeoutMs = 10_000;
const maxRedirects = 3;
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Returns the body. Throws ForbiddenUrl, SourceFault, and ImageFault if there are too many bytes. */
export type Fetcher = (url: URL) => Promise<Uint8Array<ArrayBuffer>>;

export function createFetcher(
  deps: Pick<GuardOptions, 'allowedHosts'> & Partial<GuardOptions> & { readonly timeoutMs?: number },
): Fetcher {
  const guard = createGuard(deps);
  return async (url) => {
    try {
      return await withDeadline(deps.timeoutMs ?? fetchTimeoutMs, (signal) => follow(guard, url, signal));
    } catch (error) {
      if (error instanceof ForbiddenUrl || error instanceof ImageFault || error instanceof SourceFault) throw error;
      throw new SourceFault('failed', 'the URL could not be fetched', error);
    }
  };
}

export function urlSource(fetcher: Fetcher, url: string): VariantSource {
  const address = new URL(url);
  address.hash = '';
  return {
    identity: JSON.stringify(['url', address.href]),
    group: JSON.stringify(['url', address.href]),
    store: JSON.stringify(['url']),
    owner: address.host,
    // Sources of other hosts are not checked again.
    read: async () => ({ bytes: await fetcher(address), stillStands: async () => true }),
  };
}

async function follow(guard: Guard, start: URL, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
  let url = start;
  for (let hop = 0; hop <= maxRedirects; hop++) {
    const answer = await requestOnce(url, await guard(url), signal);
    if (answer instanceof Uint8Array) return answer;
    url = answer;
  }
  throw new SourceFault('failed', `more than ${maxRedirects} redirects`);
}

/** Returns the body, or the target of a redirect. */
async function requestOnce(
  url: URL,
  addresses: readonly HostAddress[],
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer> | URL> {
  const agent = connectOnlyTo(addresses);
  try {
    const answer = await request(url, {
      dispatcher: agent,
      signal,
      headers: { accept: 'image/*', 'accept-encoding': 'identity', 'user-agent': userAgent },
    });
    if (answer.statusCode === 200) return await readWhole(answer);
    const location = answer.headers.location;
    if (!redirects.has(answer.statusCode) || typeof location !== 'string') {
      throw new SourceFault('failed', `the URL returned ${answer.statusCode}`);
    }
    return new URL(location, url);
  } finally {
    // Closing the connection drops the unread rest.
    await agent.destroy();
  }
}

async function readWhole({ headers, body }: Dispatcher.ResponseData): Promise<Uint8Array<ArrayBuffer>> {
  if (Number(headers['content-length']) > maxSourceBytes) throw tooManyBytes();
  return readAtMost(body, maxSourceBytes, tooManyBytes);
}
