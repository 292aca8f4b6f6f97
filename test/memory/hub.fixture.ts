/**
 * A hub of models, for the tests. It speaks the part of huggingface.co's documented protocol that a download uses: large files
 * are redirects to signed URLs of a content server, and `X-Linked-ETag` is their SHA-256. Only the newest signed URL of this
 * hub is valid. Small files come from the hub itself.
 */
import { createHash, randomBytes } from 'node:crypto';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export const revision = 'a'.repeat(40);

export interface Hub {
  readonly url: string;
  /** Of the content server. */
  readonly contentUrl: string;
  /** The signed URLs of large files. */
  readonly redirects: string[];
  /** Replaces the response of the hub, for example by 429. */
  refuse: () => { readonly status: number; readonly headers?: Readonly<Record<string, string>> } | undefined;
  /** The `Range` header of each request of a file, by its path. */
  readonly ranges: (readonly [path: string, range: string | undefined])[];
  /** Changes the answer to the list of files. */
  listing: (body: Listing) => unknown;
  /** Answers a request of a file. */
  serve: (response: ServerResponse, bytes: Buffer, range: string | undefined) => void;
  close(): Promise<void>;
}

interface Listing {
  readonly sha: string;
  siblings: {
    rfilename: string;
    size?: number;
    blobId?: string;
    lfs?: { sha256: string; size: number };
  }[];
}

/** Answers with the range that is asked for. */
export function serveRange(response: ServerResponse, bytes: Buffer, range: string | undefined): void {
  const start = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0);
  if (start >= bytes.length && start > 0) {
    response.writeHead(416, { 'content-range': `bytes */${bytes.length}` }).end();
    return;
  }
  const common = { 'accept-ranges': 'bytes', 'content-length': bytes.length - start };
  const part = { 'content-range': `bytes ${start}-${bytes.length - 1}/${bytes.length}` };
  response.writeHead(range === undefined ? 200 : 206, { ...common, ...(range !== undefined && part) });
  response.end(bytes.subarray(start));
}

/** The file `model.onnx` is a large file, and `tokenizer.json` a small one. */
export async function startHub(files: Readonly<Record<string, Buffer>>): Promise<Hub> {
  const listing: Listing = {
    sha: revision,
    siblings: Object.entries(files).map(([rfilename, bytes]) =>
      rfilename.endsWith('.onnx')
        ? { rfilename, lfs: { sha256: createHash('sha256').update(bytes).digest('hex'), size: bytes.length } }
        : {
            rfilename,
            size: bytes.length,
            blobId: createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex'),
          },
    ),
  };
  const signature = () => randomBytes(8).toString('hex');
  let valid = '';
  const content = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://content');
    const bytes = files[pathname.slice(1)];
    if (bytes === undefined || searchParams.get('X-Amz-Signature') !== valid) {
      response.writeHead(403, { 'content-type': 'application/xml' }).end('<Error><Code>AccessDenied</Code></Error>');
      return;
    }
    hub.ranges.push([pathname.slice(1), request.headers.range]);
    hub.serve(response, bytes, request.headers.range);
  });
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://hub');
    const refusal = hub.refuse();
    if (refusal !== undefined) {
      response.writeHead(refusal.status, refusal.headers).end('{"error":"scripted"}');
      return;
    }
    if (pathname === '/api/models/owner/small/revision/main') {
      response.end(JSON.stringify(hub.listing(structuredClone(listing))));
      return;
    }
    const path = pathname.replace(`/owner/small/resolve/${revision}/`, '');
    const bytes = files[path];
    if (bytes === undefined) {
      response.writeHead(404, { 'x-error-code': 'EntryNotFound' }).end('Entry not found');
      return;
    }
    const entry = listing.siblings.find(({ rfilename }) => rfilename === path);
    response.setHeader('x-repo-commit', revision);
    if (entry?.lfs === undefined) {
      response.setHeader('etag', `"${entry?.blobId}"`);
      hub.ranges.push([path, request.headers.range]);
      hub.serve(response, bytes, request.headers.range);
      return;
    }
    valid = signature();
    const location = `${hub.contentUrl}/${path}?X-Amz-Expires=3600&X-Amz-Signature=${valid}`;
    hub.redirects.push(location);
    const linked = { 'x-linked-size': entry.lfs.size, 'x-linked-etag': `"${entry.lfs.sha256}"` };
    response.writeHead(302, { location, ...linked }).end(`Found. Redirecting to ${location}`);
  });
  const listen = async (of: Server) => {
    await new Promise<void>((resolve) => of.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(of.address() as AddressInfo).port}`;
  };
  const stop = (of: Server) => {
    of.closeAllConnections();
    return new Promise<void>((resolve) => of.close(() => resolve()));
  };
  const hub: Hub = {
    url: await listen(server),
    contentUrl: await listen(content),
    redirects: [],
    refuse: () => undefined,
    ranges: [],
    listing: (body) => body,
    serve: serveRange,
    close: async () => {
      await Promise.all([stop(server), stop(content)]);
    },
  };
  return hub;
}
