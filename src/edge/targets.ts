/**
 * Where a request points to, from the bytes that were sent: the router decodes paths, and a signature is over what was
 * written.
 */
import type { IncomingMessage } from 'node:http';

export interface Target {
  /** Raw, with its leading `/`. */
  readonly path: string;
  readonly query: URLSearchParams;
}

export function targetOf(request: IncomingMessage): Target {
  // Of a target in absolute form, only the path counts.
  const raw = (request.url ?? '/').replace(/^[a-z]+:\/\/[^/]*/i, '');
  const mark = raw.indexOf('?');
  return mark === -1
    ? { path: raw, query: new URLSearchParams() }
    : { path: raw.slice(0, mark), query: new URLSearchParams(raw.slice(mark + 1)) };
}

/** The decoded segments behind the first one (`/o/a/b%20c` → `a`, `b c`). `undefined`: no valid percent-encoding. */
export function segmentsBehindFirst(path: string): string[] | undefined {
  try {
    return path.split('/').slice(2).map(decodeURIComponent);
  } catch {
    // URIError is all that decodeURIComponent throws.
    return undefined;
  }
}
