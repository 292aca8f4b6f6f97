/** A webhook receiver on loopback that verifies requests with the reference library of Standard Webhooks. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

export interface ReceivedWebhook {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The verified body. `undefined`: the signature is wrong. */
  readonly event: unknown;
}

/** `hang`: no response. */
export type ReceiverAnswer =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  | 'hang';

export async function startReceiver(secret: string) {
  const verifier = new Webhook(secret);
  const received: ReceivedWebhook[] = [];
  let answer: ReceiverAnswer = { status: 204 };
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const { url: path = '', headers } = request;
    received.push({ path, headers, body, event: verified(verifier, body, headers) });
    if (answer !== 'hang') response.writeHead(answer.status, answer.headers).end(answer.body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hooks?app=1`,
    received,
    answerWith: (next: ReceiverAnswer) => {
      answer = next;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function verified(verifier: Webhook, body: string, headers: IncomingHttpHeaders): unknown {
  try {
    return verifier.verify(body, headers as Record<string, string>);
  } catch {
    return undefined;
  }
}
