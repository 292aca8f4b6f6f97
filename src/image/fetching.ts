/** Fetches a source from an address that a caller names (docs/specification/image.md#sources). */
import { lookup } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { Agent, type Dispatcher, request } from 'undici';
import { userAgent } from '#platform/http/outgoing.ts';
import { withDeadline } from '#platform/resilience/deadline.ts';
import { PictureFault } from './engine/engine.ts';
import { maxSourceBytes, SourceFault, tooManyBytes, type VariantSource } from './engine/sources.ts';
import { createGuard, ForbiddenUrl, type Guard, type GuardDeps, type HostAddress } from './guard.ts';

/** Everything about one fetch: names, connections, redirects and the body. */
export const fetchTimeoutMs = 10_000;
const maxRedirects = 3;
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Answers with the body. Throws ForbiddenUrl, SourceFault, and PictureFault when there are too many bytes. */
export type Fetcher = (url: URL) => Promise<Uint8Array<ArrayBuffer>>;

export function createFetcher(
  deps: Pick<GuardDeps, 'allowedHosts'> & Partial<GuardDeps> & { readonly timeoutMs?: number },
): Fetcher {
  const guard = createGuard({ resolve: (hostname) => lookup(hostname, { all: true }), ...deps });
  return async (url) => {
    try {
      return await withDeadline(deps.timeoutMs ?? fetchTimeoutMs, (signal) => follow(guard, url, signal));
    } catch (error) {
      if (error instanceof ForbiddenUrl || error instanceof PictureFault || error instanceof SourceFault) throw error;
      throw new SourceFault('failed', 'the address could not be fetched', error);
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
    const answer = await ask(url, await guard(url), signal);
    if (answer instanceof Uint8Array) return answer;
    url = answer;
  }
  throw new SourceFault('failed', `more than ${maxRedirects} redirects`);
}

/** The body, or where a redirect leads. */
async function ask(
  url: URL,
  addresses: readonly HostAddress[],
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer> | URL> {
  const agent = new Agent({ connect: { lookup: only(addresses) }, pipelining: 0 });
  try {
    const answer = await request(url, {
      dispatcher: agent,
      signal,
      headers: { accept: 'image/*', 'accept-encoding': 'identity', 'user-agent': userAgent },
    });
    if (answer.statusCode === 200) return await readWhole(answer);
    const location = answer.headers.location;
    if (!redirects.has(answer.statusCode) || typeof location !== 'string') {
      throw new SourceFault('failed', `the address answered ${answer.statusCode}`);
    }
    return new URL(location, url);
  } finally {
    // Whatever of the answer was not read goes with the connection.
    await agent.destroy();
  }
}

/** Names are not resolved again: the connection goes to an address that was judged. */
function only(addresses: readonly HostAddress[]): LookupFunction {
  return (hostname, options, callback) => {
    const [first] = addresses;
    if (first === undefined) callback(new Error(`${hostname} has no address`), '');
    else if (options.all) callback(null, [...addresses]);
    else callback(null, first.address, first.family);
  };
}

async function readWhole({ headers, body }: Dispatcher.ResponseData): Promise<Uint8Array<ArrayBuffer>> {
  if (Number(headers['content-length']) > maxSourceBytes) throw tooManyBytes();
  const chunks: Buffer<ArrayBuffer>[] = [];
  let length = 0;
  for await (const chunk of body as AsyncIterable<Buffer<ArrayBuffer>>) {
    length += chunk.length;
    if (length > maxSourceBytes) throw tooManyBytes();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}
