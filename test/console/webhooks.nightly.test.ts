/** The Webhooks page in a real browser: a dead delivery is sent again. */
import { randomBytes, randomUUID } from 'node:crypto';
import pg from 'pg';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchChromium, withoutChromium } from '../chromium.fixture.ts';
import { createPostgresDatabase, databaseEngines } from '../database.fixture.ts';
import { startReceiver } from '../webhooks/receiver.fixture.ts';
import { judge } from './judging.fixture.ts';
import { type ConsoleRig, enterAsOperator, startConsole, visit } from './rig.fixture.ts';

const withoutPostgres = databaseEngines.some(({ name, missing }) => name === 'postgres' && missing);
const limitMs = 300_000;

describe.skipIf(withoutChromium || withoutPostgres)('the Webhooks page', () => {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  let database: Awaited<ReturnType<typeof createPostgresDatabase>>;
  let receiver: Awaited<ReturnType<typeof startReceiver>>;
  let rig: ConsoleRig;
  let browser: Browser;
  let client: pg.Client;

  beforeAll(async () => {
    [database, receiver, browser] = await Promise.all([
      createPostgresDatabase(),
      startReceiver(secret),
      launchChromium(),
    ]);
    const webhooks = { WEBHOOK_URL: receiver.url, WEBHOOK_SECRET: secret };
    rig = await startConsole({ DATABASE_URL: database.url, ...webhooks }, ['notify', 'console']);
    client = new pg.Client({ connectionString: database.url });
    await client.connect();
  }, limitMs);
  afterAll(async () => {
    await browser.close();
    await client.end();
    await rig.close();
    await receiver.close();
    await database.drop();
  });

  async function bounce(): Promise<void> {
    const event = { id: randomUUID(), type: 'email.bounced', email_id: 'mail-1', to: ['ada@example.com'] };
    const answer = await fetch(`${rig.addresses.notify}/emails/events`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-internal-key': await rig.secret('INTERNAL_KEY') },
      body: JSON.stringify(event),
    });
    expect(answer.status).toBe(204);
  }

  it('shows deliveries and their state, and sends dead ones again', { timeout: limitMs }, async () => {
    const visitor = await visit(browser);
    const { page, complaints } = visitor;
    await enterAsOperator(visitor, rig);
    await page.getByRole('link', { name: 'Webhooks' }).click();
    await page.getByText('No event has been published yet.').waitFor();
    await judge(page, 'no deliveries');
    receiver.answerWith({ status: 503 });
    await bounce();
    await page.getByText('the receiver returned 503').waitFor();
    await judge(page, 'a delivery that is retried');
    await client.query("update jobs set status = 'dead', finished_at = now() where queue = 'webhooks/deliver'");
    await page.getByLabel(/Dead deliveries only/).check();
    await page.getByText('Dead deliveries only (1)').waitFor();
    await page.getByText(/^Body of msg_/).click();
    await judge(page, 'a dead delivery');
    if (process.env.SCREENSHOT) await page.screenshot({ path: process.env.SCREENSHOT });
    receiver.answerWith({ status: 204 });
    await page.getByRole('button', { name: 'Send again: mail.bounced' }).click();
    await page.getByText('No delivery is dead.').waitFor();
    await page.getByLabel(/Dead deliveries only/).uncheck();
    await page.getByText('delivered', { exact: true }).waitFor();
    const [first, last] = [receiver.received[0], receiver.received.at(-1)];
    expect([last?.headers['webhook-id'], last?.body]).toEqual([first?.headers['webhook-id'], first?.body]);
    expect(last?.event).toMatchObject({ type: 'mail.bounced' });
    expect(complaints).toEqual([]);
    await visitor.context.close();
  });
});
