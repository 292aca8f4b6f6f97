/** A hub of models, for the tests: speaks the part of huggingface.co's wire that a download uses. */
import { createHash } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export const revision = 'a'.repeat(40);

export interface Hub {
  readonly url: string;
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
  response.writeHead(range === undefined ? 200 : 206, { 'content-length': bytes.length - start });
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
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://hub');
    if (pathname === '/api/models/owner/small/revision/main') {
      response.end(JSON.stringify(hub.listing(structuredClone(listing))));
      return;
    }
    const path = pathname.replace(`/owner/small/resolve/${revision}/`, '');
    const bytes = files[path];
    if (bytes === undefined) {
      response.writeHead(404).end();
      return;
    }
    hub.ranges.push([path, request.headers.range]);
    hub.serve(response, bytes, request.headers.range);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const hub: Hub = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ranges: [],
    listing: (body) => body,
    serve: serveRange,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return hub;
}
