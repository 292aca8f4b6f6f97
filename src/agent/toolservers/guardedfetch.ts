/** The `fetch` of a connection to an MCP server: it reaches the addresses that were checked and no others. */
import { type Dispatcher, fetch as fetchFrom } from 'undici';
import { userAgent } from '#platform/version.ts';

/** The server answered with a redirect, which is not followed: it could lead to an address that was not checked. */
export class RedirectRefused extends Error {}

/** Statuses whose responses have no body. */
const withoutBody: ReadonlySet<number> = new Set([101, 204, 205, 304]);

/** A response fails as soon as more than `maxBytes` have arrived. */
export function guardedFetch(dispatcher: Dispatcher, maxBytes: number) {
  return async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    const headers = new Headers(init.headers);
    headers.set('user-agent', userAgent);
    const response = await fetchFrom(url, {
      method: init.method ?? 'GET',
      headers: [...headers],
      // The client of the protocol sends text only.
      body: typeof init.body === 'string' ? init.body : null,
      signal: init.signal ?? null,
      redirect: 'manual',
      dispatcher,
    });
    const { status } = response;
    if (status >= 300 && status < 400 && status !== 304) {
      await response.body?.cancel();
      throw new RedirectRefused(`the server returned a redirect (${status})`);
    }
    const body = withoutBody.has(status) ? null : (response.body?.pipeThrough(atMost(maxBytes)) ?? null);
    return new Response(body, { status, headers: [...response.headers] });
  };
}

function atMost(maxBytes: number) {
  let length = 0;
  return new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      length += chunk.length;
      if (length > maxBytes) controller.error(new Error(`the response is larger than ${maxBytes} bytes`));
      else controller.enqueue(chunk);
    },
  });
}
