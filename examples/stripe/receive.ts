/**
 * Adds credits for each paid Checkout session. Stripe repeats events until one is confirmed; each adds credits once.
 *
 *     npm install --prefix examples/stripe
 *     export STRIPE_WEBHOOK_SECRET=whsec_… INTERNAL_KEY=… AUTH_URL=http://localhost:4003
 *     node examples/stripe/receive.ts
 *     stripe listen --forward-to http://localhost:4501/stripe     # in another terminal; prints the secret
 */
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import Stripe from 'stripe';

const {
  STRIPE_WEBHOOK_SECRET = '',
  INTERNAL_KEY = '',
  AUTH_URL = 'http://localhost:4003',
  PORT = '4501',
} = process.env;
const maxBytes = 1024 * 1024;

/** A repeated event has the same id, so Atelier sees the same change. */
function changeIdOf(eventId: string): string {
  const hex = createHash('sha256').update(`stripe ${eventId}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

async function addCredits(userId: string, credits: number, eventId: string): Promise<void> {
  const response = await fetch(`${AUTH_URL}/v1/people/${encodeURIComponent(userId)}/credits`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-internal-key': INTERNAL_KEY },
    body: JSON.stringify({ changeId: changeIdOf(eventId), credits, reason: `Stripe ${eventId}` }),
  });
  if (!response.ok) throw new Error(`Atelier returned ${response.status}: ${await response.text()}`);
}

const server = createServer(async (request, response) => {
  if (request.method !== 'POST' || Number(request.headers['content-length'] ?? maxBytes) > maxBytes)
    return void response.writeHead(400).end();
  // The signature covers the bytes as they were sent, so verify them before parsing.
  const body = await text(request);
  let event: Stripe.Event;
  try {
    event = Stripe.webhooks.constructEvent(body, String(request.headers['stripe-signature']), STRIPE_WEBHOOK_SECRET);
  } catch {
    return void response.writeHead(401).end();
  }
  try {
    if (event.type === 'checkout.session.completed' && event.data.object.payment_status === 'paid') {
      const { client_reference_id: userId, metadata } = event.data.object;
      const credits = Number(metadata?.credits);
      // Set both when you create the session. Never take them from the page of the user.
      if (userId && Number.isSafeInteger(credits) && credits > 0) await addCredits(userId, credits, event.id);
      else console.error(`the session of ${event.id} names no user or no credits`);
    }
    response.writeHead(204).end();
  } catch (error) {
    // Stripe repeats the event.
    console.error(error);
    response.writeHead(503).end();
  }
});

server.listen(Number(PORT), '127.0.0.1', () => console.log(`listening on http://localhost:${PORT}/stripe`));
