/** A classifier over real HTTP for tests, which set its responses. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface TestClassifier {
  readonly url: string;
  /** From now on; it is called with every image, read to its end. */
  answer: (response: ServerResponse) => void;
  readonly seen: { readonly path: string; readonly headers: IncomingHttpHeaders; readonly bytes: Buffer }[];
  close(): Promise<void>;
}

/** Responds with `verdict` and status 200. */
export const says = (verdict: unknown) => (response: ServerResponse) => {
  response.setHeader('content-type', 'application/json').end(JSON.stringify(verdict));
};

export const saysClean = says({ match: false });

export async function startClassifier(): Promise<TestClassifier> {
  const seen: TestClassifier['seen'] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      seen.push({ path: String(request.url), headers: request.headers, bytes: Buffer.concat(chunks) });
      classifier.answer(response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const classifier: TestClassifier = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answer: saysClean,
    seen,
    close: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return classifier;
}
