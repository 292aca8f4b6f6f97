/** A content service over a fake CMS whose responses a test sets. The CMS is an external service, so its protocol is faked. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ContentDeps, createContent } from '#content/service.ts';
import type { Database } from '#platform/db/db.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { createLog } from '#platform/log.ts';

export type Answer = (response: ServerResponse, request: IncomingMessage) => void;

export interface ContentRig {
  readonly url: string;
  /** How often the CMS was asked. */
  calls(): number;
  /** From now on the CMS answers like this. */
  answer(answer: Answer): void;
  /** 200 with this body as JSON. */
  say(body: unknown): void;
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Response>;
  close(): Promise<void>;
}

export const pages = {
  userUrl: 'https://app.example.com/u/{id}?a=1&b=2',
  feedUrl: 'https://app.example.com/f/{id}',
};

interface Options {
  readonly notify?: ContentDeps['notify'];
  readonly webhookSecret?: string;
  readonly publicUrl?: string;
}

export async function startContent(
  database: Database,
  { notify = { url: 'http://127.0.0.1:9', internalKey: undefined }, webhookSecret, publicUrl }: Options = {},
): Promise<ContentRig> {
  let calls = 0;
  let answer: Answer = (response) => response.writeHead(404).end();
  const cms = createServer((request, response) => {
    calls += 1;
    answer(response, request);
  });
  await new Promise<void>((listening) => cms.listen(0, '127.0.0.1', listening));
  const app: HttpServer = await createContent({
    server: { log: createLog({ level: 'silent' }), readiness: {} },
    database,
    cmsUrl: addressOf(cms),
    notify,
    mediaUrl: 'http://127.0.0.1:9',
    edgeUrl: 'http://127.0.0.1:9',
    settings: { ...pages, publicUrl, hasShareSitemap: false, resendWebhookSecret: webhookSecret },
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return {
    url,
    calls: () => calls,
    answer: (next) => {
      answer = next;
    },
    say: (body) => {
      answer = (response) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    },
    get: (path, headers = {}) => fetch(url + path, { headers }),
    close: async () => {
      await app.close();
      cms.closeAllConnections();
      await new Promise((closed) => cms.close(closed));
    },
  };
}

function addressOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
