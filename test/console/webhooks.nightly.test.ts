/** The Webhooks page in a real browser: failing, dead and delivered webhooks, which are sent again. */
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
    const endpoint = page.getByRole('region', { name: 'Endpoint' });
    const { host } = new URL(receiver.url);
    await endpoint.getByText('the receiver returned 503').waitFor();
    await endpoint.getByText(`http://${host}/`).waitFor();
    await endpoint.getByText(/^failing since /).waitFor();
    await page.getByRole('button', { name: 'Failing 1' }).click();
    const row = page.getByRole('list', { name: 'Deliveries' }).getByRole('listitem');
    expect(await row.innerText()).toMatch(
      /^mail\.bounced\s+failing\s+.*\s+Send again\s+ada@example\.com\s+1 attempt\s+next attempt in less than a minute/,
    );
    await judge(page, 'a failing delivery');
    await page.setViewportSize({ width: 390, height: 844 });
    expect(Number(await page.evaluate('document.documentElement.scrollWidth'))).toBeLessThanOrEqual(390);
    await page.setViewportSize({ width: 1440, height: 900 });

    // The Overview names the endpoint, with a link to its failing deliveries.
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByText(new RegExp(`1 webhook to ${host} is failing, since .*: the receiver returned 503`)).waitFor();
    await page.getByRole('link', { name: 'Jobs failing: 1', exact: true }).waitFor();
    await page.getByRole('link', { name: 'Show webhooks' }).click();
    await page.getByRole('button', { name: 'Failing 1', pressed: true }).waitFor();
    await client.query("update jobs set run_at = now() + interval '2 hours' where queue = 'webhooks/deliver'");
    await row.getByText('next attempt in 1 hour').waitFor();
    // A click that comes too late leaves no error behind.
    const late = { status: 409, json: { error: 'job_changed', message: 'The job has changed.' } };
    await page.route(/\/retry$/, (route) => route.fulfill(late), { times: 1 });
    await row.getByRole('button', { name: 'Send again: mail.bounced' }).click();
    await page.getByText('It has just changed. The list shows its state.').first().waitFor();
    expect(await page.getByText('The job has changed.').count()).toBe(0);
    complaints.splice(0);
    await row.getByRole('button', { name: 'Send again: mail.bounced' }).click();
    await expect.poll(() => receiver.received.length).toBe(2);

    await client.query(
      "update jobs set status = 'dead', attempt = 3, finished_at = now() where queue = 'webhooks/deliver'",
    );
    await page.getByRole('button', { name: 'Dead 1' }).click();
    await row.getByText('Id and body').click();
    await row.getByText(/^msg_/).waitFor();
    await row.getByRole('button', { name: 'Copy the body' }).waitFor();
    await judge(page, 'a dead delivery');
    await page.getByRole('searchbox', { name: 'Search' }).fill('nobody@example.com');
    await page.getByText('No delivery matches.').waitFor();
    await page.getByRole('searchbox', { name: 'Search' }).fill('ADA@example.com');
    await page.getByLabel('Type').selectOption('mail.bounced');
    await row.getByText('mail.bounced').first().waitFor();
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByText(`1 webhook to ${host} is dead`).waitFor();
    await page.getByRole('link', { name: 'Send again' }).click();
    receiver.answerWith({ status: 204 });
    await row.getByRole('button', { name: 'Send again: mail.bounced' }).click();
    await page.getByText('No delivery is dead.').waitFor();
    await page.getByRole('button', { name: 'Delivered 1' }).click();
    await row.getByText('delivered', { exact: true }).waitFor();
    await endpoint.getByText('delivers', { exact: true }).waitFor();
    await judge(page, 'a delivered webhook');
    const [first, last] = [receiver.received[0], receiver.received.at(-1)];
    expect([last?.headers['webhook-id'], last?.body]).toEqual([first?.headers['webhook-id'], first?.body]);
    expect(last?.event).toMatchObject({ type: 'mail.bounced' });
    expect(complaints).toEqual([]);
    await visitor.context.close();
  });
});
