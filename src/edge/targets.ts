/** The target of a request in the exact bytes that were sent: the router decodes paths, but a signature covers the original. */
import type { IncomingMessage } from 'node:http';

export interface Target {
  /** The raw path, with its leading `/`. */
  readonly path: string;
  readonly query: URLSearchParams;
}

export function targetOf(request: IncomingMessage): Target {
  // In an absolute-form target, only the path counts.
  const raw = (request.url ?? '/').replace(/^[a-z]+:\/\/[^/]*/i, '');
  const mark = raw.indexOf('?');
  return mark === -1
    ? { path: raw, query: new URLSearchParams() }
    : { path: raw.slice(0, mark), query: new URLSearchParams(raw.slice(mark + 1)) };
}

/** Returns the decoded segments after the first one (`/o/a/b%20c` → `a`, `b c`), or `undefined` for invalid percent-encoding. */
export function segmentsBehindFirst(path: string): string[] | undefined {
  try {
    return path.split('/').slice(2).map(decodeURIComponent);
  } catch {
    // decodeURIComponent throws only URIError.
    return undefined;
  }
}
