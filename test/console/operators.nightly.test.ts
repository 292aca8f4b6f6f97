/** The operators' pages with graphs, jobs, mails and models, and what can be done there, in a real browser. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import pg from 'pg';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchChromium, withoutChromium } from '../chromium.fixture.ts';
import { createPostgresDatabase, databaseEngines } from '../database.fixture.ts';
import { judge } from './judging.fixture.ts';
import { type ConsoleRig, enterAsOperator, startConsole, useVisitors } from './rig.fixture.ts';

const withoutPostgres = databaseEngines.some(({ name, missing }) => name === 'postgres' && missing);
const limitMs = 300_000;

describe.skipIf(withoutChromium || withoutPostgres)('the pages of operators', () => {
  let database: Awaited<ReturnType<typeof createPostgresDatabase>>;
  let rig: ConsoleRig;
  let browser: Browser;
  let client: pg.Client;

  beforeAll(async () => {
    [database, browser] = await Promise.all([createPostgresDatabase(), launchChromium()]);
    const budgets = { AGENT_BUDGET_DAILY_USD: '10', AGENT_BUDGET_MONTHLY_USD: '2000' };
    rig = await startConsole({ DATABASE_URL: database.url, ...budgets }, [
      'agent',
      'notify',
      'content',
      'cms',
      'console',
    ]);
    client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await plant();
  }, limitMs);
  afterAll(async () => {
    await browser.close();
    await client.end();
    await rig.close();
    await database.drop();
  });

  const visit = useVisitors(() => browser);
  async function enter(path: string) {
    const visitor = await visit();
    await enterAsOperator(visitor, rig, path);
    return visitor;
  }

  async function mail(body: object, path = '/emails') {
    const answer = await fetch(`${rig.addresses.notify}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-internal-key': await rig.secret('INTERNAL_KEY') },
      body: JSON.stringify(body),
    });
    expect(answer.ok).toBe(true);
  }

  async function plant(): Promise<void> {
    await client.query(`insert into jobs (queue, payload, status, attempt, fence, reason, settled, created_at, finished_at, request_id)
      values ('memory/judge', '{"entity":{"type":"user","id":"ada"},"apiToken":"hush"}', 'dead', 10, 10,
          'the model answered 500', false, now() - interval '3 hours', now() - interval '2 hours', 'req-1'),
        ('memory/judge', '{"entity":{"type":"user","id":"bob"}}', 'dead', 10, 10, 'the model answered 500', false,
          now() - interval '3 hours', now() - interval '1 hour', 'req-2'),
        ('agent/make-video', '{"videoId":"7"}', 'dead', 10, 10, 'the provider refused the prompt', true,
          now() - interval '3 hours', now() - interval '1 hour', null)`);
    await client.query(`insert into jobs (queue, payload, run_at)
      select 'memory/judge', '{"entity":{"type":"user","id":"eve"}}', now() + interval '1 hour' from generate_series(1, 3)`);
    await client.query(`insert into agent_usage_totals (day, model, plan, slot, runs, input_tokens, output_tokens, images, videos, credits, cost_usd)
      select (now() at time zone 'UTC')::date - n, model, plan, 0, 40 + (n * 37 % 60), 90000 + n * 1000, 30000 + n * 700, n, n / 5, 100 + (n * 53 % 90), 3.1
      from generate_series(0, 29) n, (values ('large'), ('small')) m(model), (values ('free'), ('pro')) p(plan)`);
    await client.query(`insert into agent_usage_months (user_id, month, runs, credits, cost_usd)
      select gen_random_uuid(), date_trunc('month', now() at time zone 'UTC')::date, n * 10, n * 111, 9 - n from generate_series(1, 8) n`);
  }

  const look = async (page: Page, name: string) => {
    const folder = process.env.SCREENSHOTS;
    if (folder === undefined) return;
    for (const [width, height] of [
      [1440, 900],
      [390, 844],
    ] as const) {
      await page.setViewportSize({ width, height });
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        await page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`), fullPage: true });
      }
    }
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.emulateMedia({ colorScheme: 'light' });
  };

  it('show the last hour, stopped services, and errors with their ids', {
    timeout: limitMs,
  }, async () => {
    const { page, complaints } = await enter('/operator/jobs');
    // Each part is shown when it is read.
    const isHeld = Promise.withResolvers<void>();
    await page.route('**/api/runs?limit=100', async (route) => {
      await isHeld.promise;
      const ago = [1, 2, 3500, 3700].map((seconds) => new Date(Date.now() - seconds * 1000).toISOString());
      await route.fulfill({ json: { runs: ago.map((createdAt) => ({ createdAt })), next_cursor: null } });
    });
    const none = { json: { days: [], media: [] } };
    await page.route('**/api/usage/totals?*', (route) => route.fulfill(none));
    await page.goto(`${rig.url}/operator`);
    await page
      .getByRole('row', { name: /^agent / })
      .getByText('ready', { exact: true })
      .waitFor();
    await page.getByRole('link', { name: 'Runs in the last hour: not read yet' }).waitFor();
    isHeld.resolve();
    // As the page behind the link counts them, and not as this process has seen them.
    await page.getByRole('link', { name: 'Runs in the last hour: 3', exact: true }).waitFor();
    // Those in progress are runs of today, too.
    await page.getByText(/^yesterday \d+, today [2-4]$/).waitFor();
    await page.unroute('**/api/usage/totals?*');
    await page.getByText(/^5 of 8 services are not ready: /).waitFor();
    await page.getByText('no answer').first().waitFor();
    await page.getByText('cannot be reached, so their errors are not listed').waitFor();
    await page.getByText('Ended per minute').waitFor();
    const attention = page.getByRole('list', { name: 'Needs attention' }).getByRole('listitem');
    const spent = attention.filter({ hasText: 'The budget of the day is spent' });
    await spent.getByRole('link', { name: 'Show costs' }).waitFor();
    // The most severe first.
    const statuses = await attention.locator('.status').all();
    const tones = await Promise.all(
      statuses.map(async (one) => (await one.getAttribute('class'))?.split(' ')[1] ?? ''),
    );
    const severity = ['bad', 'warn', 'busy'];
    expect(tones).toEqual(tones.toSorted((one, other) => severity.indexOf(one) - severity.indexOf(other)));
    await attention
      .filter({ hasText: /^(1 job is|[0-9]+ jobs are) dead: .*Make a video/ })
      .getByRole('link', { name: 'Retry or discard' })
      .waitFor();
    // The second sample is taken 30 seconds after the start.
    await page.getByRole('button', { name: /^agent / }).click();
    const agent = page.getByRole('region', { name: 'agent', exact: true });
    await agent
      .getByText(/highest/)
      .first()
      .waitFor({ timeout: limitMs });
    await agent.getByText('Numbers').click();
    await agent.getByRole('row').nth(1).waitFor();
    await judge(page, 'the overview');
    await agent.getByText('Numbers').click();
    await look(page, 'overview');
    const queues = page.getByRole('region', { name: 'Queues' });
    await queues.getByRole('link', { name: 'Compare new memories with known ones' }).waitFor();
    await queues.getByRole('link', { name: 'Make a video' }).click();
    await page.getByRole('heading', { name: 'Make a video' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('show queues, and retry and discard dead jobs', { timeout: limitMs }, async () => {
    const { page, complaints } = await enter('/operator/jobs?queue=memory/judge');
    const jobs = page.getByRole('list', { name: 'Jobs of memory/judge' });
    await jobs.getByText('the model answered 500').first().waitFor();
    await jobs.getByText('Payload').nth(1).click();
    expect(await jobs.innerText()).not.toContain('hush');
    await judge(page, 'dead jobs');
    await look(page, 'jobs');
    const statusOf = async (status: string) =>
      Number(
        (await client.query("select count(*) from jobs where queue = 'memory/judge' and status = $1", [status])).rows[0]
          .count,
      );
    await jobs
      .getByRole('button', { name: /^Retry job/ })
      .first()
      .click();
    await page.getByText('The job restarts.').first().waitFor();
    await expect.poll(() => statusOf('dead')).toBe(1);
    const discard = jobs.getByRole('button', { name: /^Discard job [0-9a-f-]{36}$/ });
    await expect.poll(() => discard.count()).toBe(1);
    await discard.click();
    await judge(page, 'the question before a job is discarded');
    await page.getByRole('button', { name: 'Yes, discard' }).click();
    await page.getByText('No job is dead.').waitFor();
    expect(await statusOf('dead')).toBe(0);
    await page.getByRole('tab', { name: /^Planned/ }).click();
    await jobs.getByText(/, due/).first().waitFor();
    await client.query(`insert into jobs (queue, payload, attempt, reason, run_at)
      values ('memory/judge', '{}', 1, 'the model answered 500', now() + interval '1 hour')`);
    await page.getByRole('tab', { name: /^Failing 1/ }).click();
    await page.getByRole('button', { name: 'Retry all failing jobs' }).click();
    await page.getByText('Retried 1 job.').first().waitFor();
    await page.getByText('No job is failing.').waitFor();
    await page.getByRole('button', { name: 'agent/make-video' }).click();
    await page.getByText('a retry would have no effect').waitFor();
    // A search that finds nothing offers nothing about all jobs.
    await page.getByLabel('Search these jobs').fill('no such words');
    await page.getByText('No job matches.').waitFor();
    expect(await page.getByRole('button', { name: /all dead jobs/ }).count()).toBe(0);
    await page.getByLabel('Search these jobs').fill('');
    await page.getByRole('button', { name: 'Retry all dead jobs' }).click();
    await page.getByText('Retried 0 jobs.').first().waitFor();
    await page.getByRole('button', { name: 'Discard all dead jobs' }).click();
    await page.getByRole('button', { name: 'Yes, discard all dead jobs' }).click();
    await page.getByText('Discarded 1 job.').first().waitFor();
    expect(complaints).toEqual([]);
  });

  it('show emails with their events, previews and suppressed addresses', { timeout: limitMs }, async () => {
    const from = 'Atelier <a@example.com>';
    // It is wider than a phone.
    const longest = `${'ada.'.repeat(13)}lovelace@${'long-name-of-a-host.'.repeat(4)}example.com`;
    await mail({ from, to: longest, subject: 'Your receipt', text: 'Thank you.' });
    const scheduled_at = new Date(Date.now() + 3_600_000).toISOString();
    await mail({ from, to: 'bob@example.com', subject: 'See you tomorrow', text: 'Hi.', scheduled_at });
    const bounce = { id: randomUUID(), type: 'email.bounced', email_id: 'm', reason: 'no such user' };
    await mail({ ...bounce, to: ['eve@example.com'] }, '/emails/events');
    const { page, complaints } = await enter('/operator/mail');
    await page.getByRole('button', { name: /See you tomorrow.*scheduled/ }).click();
    await page.getByRole('button', { name: 'Cancel this email' }).waitFor();
    await judge(page, 'sent mails');
    await look(page, 'mail');
    await page.getByRole('button', { name: 'Cancel this email' }).click();
    await page.getByRole('button', { name: 'Yes, cancel this email' }).click();
    await page.getByRole('button', { name: /See you tomorrow.*canceled/ }).waitFor();
    await page.getByRole('tab', { name: 'Previews' }).click();
    await page.getByLabel('Type').selectOption('account_deletion.scheduled');
    await page.getByRole('heading', { name: /will be deleted on March 4, 2027/ }).waitFor();
    await page.getByLabel('Values, as JSON').fill('{ "deletion_at": "2028-01-02" }');
    await page.getByRole('heading', { name: /January 2, 2028/ }).waitFor();
    await page.getByLabel('Language').selectOption('de');
    await page.getByRole('heading', { name: /2\. Januar 2028/ }).waitFor();
    await page
      .frameLocator('iframe')
      .getByText(/2\. Januar 2028/)
      .first()
      .waitFor();
    await judge(page, 'a preview');
    await look(page, 'preview');
    await page.getByRole('tab', { name: 'Suppressed' }).click();
    await page.getByText('eve@example.com').waitFor();
    await judge(page, 'suppressed addresses');
    await page.getByRole('button', { name: 'Lift' }).click();
    await page.getByRole('button', { name: 'Yes, lift' }).click();
    await page.getByText('No address is suppressed.').waitFor();
    expect(complaints).toEqual([]);
  });

  it('show the faults of its values for an invalid preview', { timeout: limitMs }, async () => {
    const { page } = await enter('/operator/mail');
    await page.getByRole('tab', { name: 'Previews' }).click();
    await page.getByLabel('Values, as JSON').fill('{ "deletion_at": ');
    await page.getByText(/must be a JSON object/).waitFor();
  });

  it('are found by what they show, and opened by two keys', { timeout: limitMs }, async () => {
    const { page, complaints } = await enter('/operator');
    await page.getByRole('heading', { name: 'Services' }).waitFor();
    await page.keyboard.press('?');
    const shortcuts = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await expect.poll(() => shortcuts.innerText()).toMatch(/Go to Models and costs\s+G\s*C/);
    expect(await shortcuts.innerText()).not.toMatch(/library|lightbox|message/);
    await page.keyboard.press('Escape');
    await shortcuts.waitFor({ state: 'detached' });
    // The second key alone opens nothing.
    await page.keyboard.press('x');
    await page.keyboard.press('g');
    await page.keyboard.press('j');
    await page.getByRole('heading', { name: 'Jobs', level: 1 }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('x');
    await page.getByRole('heading', { name: 'Content', level: 1 }).waitFor();
    const found = {
      images: 'Runs',
      webhooks: 'Webhooks',
      block: 'People',
      budget: 'Models and costs',
      announce: 'Content',
    };
    for (const [word, name] of Object.entries(found)) {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Search commands' }).fill(word);
      await expect
        .poll(async () => (await page.getByRole('listbox').getByRole('option').first().innerText()).split('\n')[0])
        .toBe(name);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name, level: 1 }).waitFor();
    }
    expect(complaints).toEqual([]);
  });

  it('show how to receive webhooks, if no URL is set', { timeout: limitMs }, async () => {
    const { page, complaints } = await enter('/operator');
    await page.getByRole('link', { name: 'Webhooks' }).click();
    const unset = page.getByRole('region', { name: 'No webhook URL is set' });
    await unset.getByText('run.ended').waitFor();
    await judge(page, 'webhooks without a URL');
    await unset.getByRole('link', { name: 'WEBHOOK_URL' }).click();
    await page.getByText('The http(s) URL that receives events.').waitFor();
    expect(complaints).toEqual([]);
  });

  it('show models, prices, usage and the users who spend the most', { timeout: limitMs }, async () => {
    const { page, complaints } = await enter('/operator/models');
    // These models are in no catalogue any more. Their rows lead to what is left of their runs.
    const large = page.getByRole('region', { name: 'Sums by model' }).getByRole('link', { name: 'large (removed)' });
    const today = new Date().toISOString().slice(0, 10);
    const monthAgo = new Date(Date.now() - 29 * 86_400_000).toISOString().slice(0, 10);
    const href = `/operator/runs?model=large&from=${monthAgo}&to=${today}`;
    await expect.poll(() => large.getAttribute('href')).toBe(href);
    await page.getByRole('region', { name: 'Sums by plan' }).getByRole('rowheader', { name: 'pro' }).waitFor();
    for (const models of ['conversations', 'images', 'videos'])
      await page
        .getByRole('list', { name: `Models of ${models}` })
        .getByText(/credits? for a/)
        .first()
        .waitFor();
    // Labels are not unique, so the id is there too.
    await page.getByRole('region', { name: 'Sums by model' }).getByText('large', { exact: true }).waitFor();
    const budgets = page.getByRole('region', { name: 'Budgets' }).getByRole('listitem');
    await page.getByText(/^A budget warns and does not limit: at 50, 80 and 100%/).waitFor();
    const shown = async (at: number) => (await budgets.nth(at).innerText()).replaceAll(/\s+/g, ' ');
    expect(await shown(0)).toMatch(
      /^Today \d+ \w+ \d{4}, UTC 124% ≥ US\$12\.40 of US\$10\.00 · AGENT_BUDGET_DAILY_USD Change$/,
    );
    expect(await shown(1)).toMatch(/^This month \w+ \d{4}, UTC \d+% ≥ US\$[\d.]+ of US\$2,000\.00 · AGENT_\w+ Change$/);
    const users = page.getByRole('region', { name: 'Top users' });
    await users.getByRole('cell', { name: '888' }).waitFor();
    expect(await users.getByRole('columnheader').allInnerTexts()).toEqual(
      expect.arrayContaining(['Credits', 'Images', 'Videos']),
    );
    await page.getByText('Each day, model and plan').click();
    await judge(page, 'models and costs');
    await page.getByText('Each day, model and plan').click();
    await look(page, 'models');
    await page.getByRole('button', { name: '7 days' }).click();
    await page.getByRole('button', { name: '7 days', pressed: true }).waitFor();
    // The period is in the URL, as on the page Runs.
    const from = await page.getByLabel('From').inputValue();
    expect([from, new URL(page.url()).searchParams.get('from')]).toEqual([from, from]);
    expect(await large.getAttribute('href')).toBe(`/operator/runs?model=large&from=${from}&to=${today}`);
    // A year that is still being typed.
    await page.goto(`${rig.url}/operator/models?from=0002-11-01`);
    await page.getByRole('button', { name: '30 days', pressed: true }).waitFor();
    // The fields are in one row, whichever page was open before.
    const fields = await page.getByLabel(/^(From|To) \(UTC\)$/).all();
    const tops = await Promise.all(fields.map(async (field) => (await field.boundingBox())?.y));
    expect([tops.length, new Set(tops).size]).toEqual([2, 1]);
    // Two days in the wrong order are the same period.
    await page.goto(`${rig.url}/operator/models?from=${today}&to=${monthAgo}`);
    await expect.poll(() => large.getAttribute('href')).toBe(href);
    await page.goto(`${rig.url}/operator/models`);
    const costs = users.getByRole('cell', { name: /^≥ US\$/ });
    await users.getByRole('button', { name: 'By cost' }).click();
    await expect.poll(() => costs.first().innerText()).toBe('≥ US$8.00');
    await users.getByRole('button', { name: 'By credits' }).click();
    await expect.poll(() => costs.first().innerText()).toBe('≥ US$1.00');
    await users.getByLabel('Month').fill('2020-01');
    await page.getByText('No user spent credits in January 2020.').waitFor();
    expect(complaints).toEqual([]);
  });

  it('set, change and remove budgets', { timeout: limitMs }, async () => {
    const { page, complaints } = await enter('/operator/models');
    const today = page.getByRole('region', { name: 'Budgets' }).getByRole('listitem').first();
    const editor = page.getByRole('dialog', { name: 'Budget of each day' });
    await today.getByRole('button', { name: 'Change the budget of the day' }).click();
    await judge(page, 'the budget of each day');
    await editor.getByLabel('US dollars').fill('0');
    await editor.getByRole('button', { name: 'Save' }).click();
    expect(await editor.getByLabel('US dollars').evaluate('document.activeElement.validationMessage')).not.toBe('');
    await editor.getByLabel('US dollars').fill('24.80');
    await editor.getByRole('button', { name: 'Save' }).click();
    await expect.poll(() => today.innerText()).toContain('≥ US$12.40 of US$24.80 · set just now');
    await today.getByText('50%').waitFor();
    // The setting does not apply.
    const setting = page.getByRole('definition').filter({ has: page.getByRole('link', { name: /in the desk/ }) });
    await page.goto(`${rig.url}/operator/settings`);
    await expect
      .poll(() => setting.allInnerTexts())
      .toEqual([expect.stringMatching(/^set in the desk: US\$24\.80, instead of\s+10$/)]);
    await judge(page, 'a setting that is replaced');
    await setting.getByRole('link').click();
    await today.getByRole('button', { name: 'Change the budget of the day' }).click();
    await editor.getByRole('button', { name: 'Remove' }).click();
    await today.getByText('No budget.').waitFor();
    await page.goto(`${rig.url}/operator/settings`);
    await expect
      .poll(() => setting.allInnerTexts())
      .toEqual([expect.stringMatching(/^removed in the desk, instead of\s+10$/)]);
    await setting.getByRole('link').click();
    await today.getByRole('button', { name: 'Set a budget of the day' }).click();
    await editor.getByLabel('US dollars').fill('10');
    await page.keyboard.press('Enter');
    await today.getByText('124%').waitFor();
    const recorded = await client.query(
      `select actor, target from operator_actions where target like 'budget of %' order by action_id`,
    );
    const amounts = ['10 USD to 24.8 USD', '24.8 USD to none', 'none to 10 USD'];
    expect(recorded.rows).toEqual(amounts.map((to) => ({ actor: 'console', target: `budget of the day: ${to}` })));
    expect(complaints).toEqual([]);
  });
});
