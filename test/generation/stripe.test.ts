/** The recipe of docs/generation.md: paid Checkout sessions become credits, with the signature check of Stripe's own library. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import Stripe from 'stripe';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newLanePlace, root } from '../acceptance/running.fixture.ts';
import { freePortBase } from '../ports.fixture.ts';
import { programEnv } from '../programs.fixture.ts';
import { balance, internalKey, type Person, type Running, start } from './program.fixture.ts';

const secret = 'whsec_a secret of this test';
let running: Running;
let receiver: ChildProcess;
let url: string;
let user: Person;
beforeAll(async () => {
  const place = await newLanePlace();
  running = await start(place);
  user = await running.person('buyer@example.com', 'free', 5);
  const port = await freePortBase();
  url = `http://127.0.0.1:${port}/stripe`;
  const own = { STRIPE_WEBHOOK_SECRET: secret, INTERNAL_KEY: internalKey, PORT: String(port) };
  const env = { ...programEnv, ...own, AUTH_URL: `http://localhost:${place.portBase + 3}` };
  receiver = spawn(process.execPath, [join(root, 'examples/stripe/receive.ts')], { env });
  const listening = Promise.withResolvers<void>();
  receiver.stdout?.on('data', (chunk) => String(chunk).includes('listening') && listening.resolve());
  receiver.once('exit', () => listening.reject(new Error('the example has ended')));
  await listening.promise;
});
afterAll(async () => {
  receiver.kill();
  await running.stop();
  await running.place.remove();
});

const eventOf = (id: string, session: object) =>
  JSON.stringify({
    ...{ id, object: 'event', type: 'checkout.session.completed', api_version: '2026-01-01', created: 1 },
    data: {
      object: {
        ...{ id: 'cs_1', object: 'checkout.session', payment_status: 'paid' },
        ...{ client_reference_id: user.agent.userId, metadata: { credits: '50' } },
        ...session,
      },
    },
  });

async function send(payload: string, signedWith = secret): Promise<number> {
  const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret: signedWith });
  const headers = { 'content-type': 'application/json', 'stripe-signature': signature };
  return (await fetch(url, { method: 'POST', headers, body: payload })).status;
}

it('adds credits once for an event that arrives three times, at the same time too', async () => {
  const event = eventOf('evt_1', {});
  expect(await send(event)).toBe(204);
  expect(await Promise.all([send(event), send(event)])).toEqual([204, 204]);
  expect(await balance(user)).toBe(55);
  expect(await send(eventOf('evt_2', {}))).toBe(204);
  expect(await balance(user)).toBe(105);
});

it('adds nothing for wrong signatures, changed events and sessions that are not paid', async () => {
  const before = await balance(user);
  expect(await send(eventOf('evt_3', {}), 'whsec_another')).toBe(401);
  const payload = eventOf('evt_4', {});
  const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret });
  const changed = payload.replace('"50"', '"5000"');
  const forged = await fetch(url, { method: 'POST', headers: { 'stripe-signature': signature }, body: changed });
  expect(forged.status).toBe(401);
  expect(await send(eventOf('evt_5', { payment_status: 'unpaid' }))).toBe(204);
  expect(await send(eventOf('evt_6', { client_reference_id: null }))).toBe(204);
  expect(await balance(user)).toBe(before);
});

it('asks Stripe to repeat an event whose user is unknown', async () => {
  const unknown = '00000000-0000-4000-8000-000000000000';
  expect(await send(eventOf('evt_7', { client_reference_id: unknown }))).toBe(503);
});
