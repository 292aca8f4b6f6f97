/** Serves the built page of an application under an origin that is known before the build. */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import mime from 'mime';

export interface Site {
  readonly url: string;
  show(folder: string): void;
  close(): void;
}

export async function startSite(): Promise<Site> {
  let shown: string | undefined;
  const server = createServer(async ({ url = '/' }, response) => {
    const { pathname } = new URL(url, 'http://localhost');
    const name = pathname === '/' ? 'index.html' : pathname;
    const bytes = shown === undefined ? undefined : await readFile(join(shown, name)).catch(() => undefined);
    response.writeHead(bytes === undefined ? 404 : 200, { 'content-type': mime.getType(name) ?? 'text/plain' });
    response.end(bytes);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    show: (folder) => {
      shown = folder;
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
