/**
 * Receives webhooks, verifies them, and handles each event once. Needs Node 22.18 or newer.
 *
 *     npm install --prefix examples/webhooks
 *     export WEBHOOK_SECRET=whsec_$(openssl rand -base64 32)
 *     node examples/webhooks/receive.ts
 *     WEBHOOK_URL=http://localhost:4500/hooks npm start        # in another terminal, with the same secret
 */
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

const { WEBHOOK_SECRET = '', PORT = '4500' } = process.env;
const webhook = new Webhook(WEBHOOK_SECRET);
const maxBytes = 1024 * 1024;

/** Deliveries are repeated until one is confirmed, so the same id can arrive twice. A real server stores these ids. */
const handled = new Set<string>();

const server = createServer(async (request, response) => {
  if (request.method !== 'POST' || Number(request.headers['content-length'] ?? maxBytes) > maxBytes)
    return void response.writeHead(400).end();
  // The signature covers the bytes as they were sent, so verify them before parsing.
  const body = await text(request);
  const id = String(request.headers['webhook-id']);
  let event: { type: string; data: unknown };
  try {
    event = webhook.verify(body, {
      'webhook-id': id,
      'webhook-timestamp': String(request.headers['webhook-timestamp']),
      'webhook-signature': String(request.headers['webhook-signature']),
    }) as typeof event;
  } catch {
    return void response.writeHead(401).end();
  }
  if (!handled.has(id)) {
    handled.add(id);
    console.log(`${event.type} ${JSON.stringify(event.data)}`);
  }
  // Deliveries with a status other than 2xx are retried for 24 hours.
  response.writeHead(204).end();
});

server.listen(Number(PORT), '127.0.0.1', () => console.log(`listening on http://localhost:${PORT}/hooks`));
