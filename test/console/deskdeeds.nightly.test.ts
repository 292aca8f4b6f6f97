/** The audit page, all dead deliveries at once, a blurred look, and incidents decided with nothing but keys. */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultLegacyBucket } from '#platform/objects/objects.ts';
import { launchChromium, withoutChromium } from '../chromium.fixture.ts';
import { createPostgresDatabase, databaseEngines } from '../database.fixture.ts';
import { makeImage } from '../media/images.fixture.ts';
import { digestOf } from '../media/lists.fixture.ts';
import { startReceiver } from '../webhooks/receiver.fixture.ts';
import { type Desk, openDesk } from './desk.fixture.ts';
import { judge } from './judging.fixture.ts';
import { readersLine } from './operatorjourneys.fixture.ts';
import { type ConsoleRig, startConsole, visit } from './rig.fixture.ts';

const withoutPostgres = databaseEngines.some(({ name, missing }) => name === 'postgres' && missing);
const limitMs = 300_000;

describe.skipIf(withoutChromium || withoutPostgres)('the deeds of operators', () => {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  let database: Awaited<ReturnType<typeof createPostgresDatabase>>;
  let receiver: Awaited<ReturnType<typeof startReceiver>>;
  let rig: ConsoleRig;
  let desk: Desk;
  let browser: Browser;
  let client: pg.Client;
  let lists: string;

  beforeAll(async () => {
    lists = await mkdtemp(join(tmpdir(), 'lists-'));
    [database, receiver, browser] = await Promise.all([
      createPostgresDatabase(),
      startReceiver(secret),
      launchChromium(),
    ]);
    rig = await startConsole({
      DATABASE_URL: database.url,
      WEBHOOK_URL: receiver.url,
      WEBHOOK_SECRET: secret,
      MEDIA_BLOCKED_HASHES: lists,
      OPERATOR_READER_EMAILS: 'reader@example.com',
    });
    desk = await openDesk(rig);
    client = new pg.Client({ connectionString: database.url });
    await client.connect();
  }, limitMs);
  afterAll(async () => {
    await browser.close();
    await client.end();
    await rig.close();
    await receiver.close();
    await database.drop();
    await rm(lists, { recursive: true, force: true });
  });

  async function enter(path: string) {
    const visitor = await visit(browser);
    await visitor.page.goto(`${rig.url}/#token=${await rig.secret('CONSOLE_TOKEN')}`);
    await visitor.page.getByRole('heading', { name: 'Services' }).waitFor();
    await visitor.page.goto(rig.url + path);
    return visitor;
  }

  it('are listed in the audit log, by operator, action and person', { timeout: limitMs }, async () => {
    const person = await desk.person();
    const change = { changeId: randomUUID(), credits: 5, reason: 'a gift' };
    await desk.send('POST', `/api/people/${person.id}/credits`, change);
    await desk.send('DELETE', `/api/people/${person.id}/sessions`);
    await client.query(`insert into operator_actions (actor, action, target, outcome)
      select 'chief@example.com', 'retry job', 'job ' || n, 'done' from generate_series(1, 250) n`);
    const { page, context, complaints } = await enter('/operator/audit');
    const actions = page.getByRole('list', { name: 'Actions' }).getByRole('listitem');
    const newest = actions.first();
    await newest.getByText('Details').click();
    await newest.getByText('job 250').waitFor();
    await judge(page, 'the audit log');
    await page.getByRole('button', { name: 'Show more' }).click();
    await expect.poll(() => actions.count()).toBe(200);
    // A phone loads fewer at once.
    await page.setViewportSize({ width: 390, height: 844 });
    await page.reload();
    await expect.poll(() => actions.count()).toBe(20);
    await page.getByRole('button', { name: 'Show more' }).click();
    await expect.poll(() => actions.count()).toBe(40);
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.reload();

    // A page that cannot be read shows why, and the list stays.
    await page.route(/cursor=/, (route) => route.fulfill({ status: 400, json: { message: 'The list has changed.' } }));
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.getByRole('alert').getByText('The list has changed.').waitFor();
    expect(await actions.count()).toBe(100);
    await page.unroute(/cursor=/);
    complaints.splice(0);

    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export as CSV' }).click();
    const [head, ...lines] = (await readFile(await (await downloading).path(), 'utf8')).split('\r\n');
    expect(head).toBe('Time,Operator,Action,Subject,Decision,Reason,Result,Link,Request id');
    // All that match, and not only the shown ones.
    expect(lines.filter((line) => line.includes('"chief@example.com","Retried a job","job '))).toHaveLength(250);
    expect(lines.find((line) => line.includes('credits"'))).toMatch(
      new RegExp(
        `"${person.email}","[\\d,]+ to [\\d,]+ credits","a gift","done","${rig.url}/operator/people/${person.id}",`,
      ),
    );
    expect(lines.filter((line) => / \/\S*:/.test(line))).toEqual([]);
    const names = await page.getByRole('combobox', { name: 'Action' }).getByRole('option').allInnerTexts();
    expect(names).toEqual([...new Set(names)]);
    expect(names).toContain('Blocked a user');
    expect(names.filter((name) => name.includes('{'))).toEqual([]);
    // All filters and the export are in one row.
    const tops = '[...document.querySelector("main search").children].map((one) => one.getBoundingClientRect().bottom)';
    const bottoms = ((await page.evaluate(tops)) as number[]).filter((bottom) => bottom > 0);
    expect(Math.max(...bottoms) - Math.min(...bottoms)).toBeLessThan(1);

    await page.getByLabel('Operator', { exact: true }).fill('Console');
    await page.getByRole('combobox', { name: 'Action' }).selectOption('Changed the plan or credits');
    await expect.poll(() => actions.allInnerTexts()).toEqual([expect.stringContaining('console')]);
    await page.getByLabel('From').fill('2999-01-01');
    await page.getByText('No actions match.').waitFor();

    for (const budgetUsd of [5, 8, null]) await desk.send('PUT', '/api/usage/budgets/day', { budgetUsd });
    await page.goto(`${rig.url}/operator/audit?action=budgets`);
    const sentences = page.getByRole('list', { name: 'Actions' }).locator('> li .desk-name');
    await sentences.nth(2).waitFor();
    expect(await sentences.allInnerTexts()).toEqual([
      'console changed the budget of the day from US$8.00 to none',
      'console changed the budget of the day from US$5.00 to US$8.00',
      'console changed the budget of the day from none to US$5.00',
    ]);
    await page.getByRole('link', { name: 'Open the budget' }).first().click();
    await page.getByRole('heading', { name: 'Budgets' }).waitFor();

    await page.goto(`${rig.url}/operator/people/${person.id}`);
    await page.getByRole('link', { name: 'Open audit' }).click();
    await expect
      .poll(() => actions.allInnerTexts())
      .toEqual([
        expect.stringContaining(`console ended the sessions of ${person.email}`),
        expect.stringContaining(`console changed the plan or credits of ${person.email}`),
      ]);
    expect(await page.getByText(/(DELETE|POST) \//).count()).toBe(0);
    expect(new URL(page.url()).searchParams.get('userId')).toBe(person.id);
    await page.getByLabel('User', { exact: true }).fill(person.id.slice(0, 8));
    await page.getByText('No user has this email address or id.').waitFor();
    // Not above the actions on all others.
    expect(await page.getByRole('list', { name: 'Actions' }).count()).toBe(0);
    await page.getByLabel('User', { exact: true }).fill(person.email.toUpperCase());
    await expect.poll(() => actions.count()).toBe(2);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('retry all dead deliveries at once, unless the operator may only look', { timeout: limitMs }, async () => {
    receiver.answerWith({ status: 503 });
    await client.query(`insert into jobs (queue, payload, status, attempt, reason, finished_at)
      select 'webhooks/deliver', jsonb_build_object('id', 'msg_' || n, 'publishedAtMs', 0, 'body', '{"type":"mail.bounced"}'), 'dead', 10,
        'the receiver returned 503', now() from generate_series(1, 3) n`);
    const { page, context, complaints } = await enter('/operator/webhooks');
    await page.getByRole('button', { name: 'Dead 3' }).click();
    const rows = page.getByRole('list', { name: 'Deliveries' }).getByRole('listitem');
    await expect.poll(() => rows.count()).toBe(3);
    await judge(page, 'dead deliveries');
    receiver.answerWith({ status: 204 });
    await page.getByRole('button', { name: 'Send all again' }).click();
    await page.getByText('Sending 3 deliveries again.').first().waitFor();
    await page.getByText('No delivery is dead.').waitFor();
    const delivered = async () =>
      Number(
        (await client.query(`select count(*) from jobs where payload->>'id' ~ '^msg_[123]$' and status = 'done'`))
          .rows[0].count,
      );
    await expect.poll(delivered, { timeout: 30_000 }).toBe(3);

    await client.query(`update jobs set status = 'dead' where payload->>'id' ~ '^msg_[123]$'`);
    const { cookie } = await desk.enterAs('reader@example.com');
    const [name = '', value = ''] = cookie.split('=', 2);
    await context.addCookies([{ name, value, url: rig.url }]);
    await page.reload();
    await expect.poll(() => rows.count()).toBeGreaterThan(2);
    await page.getByText(readersLine).waitFor();
    expect(await page.getByRole('button', { name: /^(Send again|Retry|Discard)/ }).count()).toBe(0);

    const { id } = await desk.person();
    const fact = { entity_type: 'user', entity_id: id, type: 'preference', content: 'Likes tea.' };
    expect((await desk.send('POST', '/api/memory/memories', fact)).status).toBeLessThan(300);
    await page.goto(`${rig.url}/operator/memory?entity_id=${id}`);
    await page.getByRole('button', { name: 'Likes tea.' }).click();
    await page.getByRole('dialog').getByText('Likes tea.').first().waitFor();
    await page.getByRole('dialog').getByText(readersLine).waitFor();
    const changes = /^(New memory|Save|Undo|Delete|Erase)/;
    expect(await page.getByRole('button', { name: changes, includeHidden: true }).count()).toBe(0);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('send a failed email again, which a reader may not', { timeout: limitMs }, async () => {
    const id = randomUUID();
    const failure = 'the SMTP server did not accept the email';
    await client.query(
      `insert into notify_sends (id, endpoint, body_digest, status, failure, mail, subject, addresses, recipients)
       values ($1, 'emails', '', 'failed', $2, $3, 'Your receipt', '{ada@example.com}', '["ada@example.com"]')`,
      [
        id,
        failure,
        {
          from: 'a@example.com',
          to: ['ada@example.com'],
          cc: [],
          bcc: [],
          replyTo: [],
          subject: 'Your receipt',
          text: 'Thanks.',
          headers: {},
        },
      ],
    );
    for (const type of ['delivery_delayed', 'failed'])
      await client.query('insert into notify_events (send_id, type, reason) values ($1, $2, $3)', [id, type, failure]);
    const { page, context, complaints } = await enter('/operator');
    await page.getByText(`1 email failed in the last day: ${failure}`).waitFor();
    await page.getByRole('listitem').filter({ hasText: '1 email failed' }).getByRole('link').click();
    const mail = page.getByRole('button', { name: /^Your receipt/ });
    await mail.click();
    await page.getByText('No further attempt is made automatically.').waitFor();
    const attempts = page.getByRole('list', { name: 'Events of the email' }).getByRole('listitem');
    expect(await attempts.allInnerTexts()).toEqual([expect.stringMatching(/^Failed /)]);
    await judge(page, 'a failed email');

    // As the job of a service that sends it again until it is accepted.
    await client.query(
      "insert into jobs (queue, unique_key, payload, run_at) values ('tests/callers', $1, '{}', now() + interval '90 minutes')",
      [id],
    );
    await page.reload();
    await page.getByText('No email has failed.').waitFor();
    await page.getByRole('button', { name: 'Delayed' }).click();
    await page.getByText('Next attempt in 1 hour', { exact: true }).waitFor();
    // The URL keeps it open.
    await page.getByRole('button', { name: /^Your receipt delayed/, expanded: true }).waitFor();
    await page.getByText(/^The job that requested this email tries it again: next attempt in 1 hour/).waitFor();
    await client.query("delete from jobs where queue = 'tests/callers'");
    await page.getByRole('button', { name: 'Failed' }).click();
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.getByText('No email has failed.').waitFor();
    await page.getByRole('button', { name: 'All' }).click();
    await page.getByRole('button', { name: /^Your receipt stored in the outbox/ }).waitFor();
    await page.getByRole('link', { name: 'Show it in the outbox' }).click();
    await page.getByRole('article', { name: 'Your receipt' }).getByText('Thanks.').waitFor();
    await page.goBack();
    // As a provider that was configured then.
    await client.query("update notify_sends set provider_id = 're_1' where id = $1", [id]);
    await page.reload();
    await page.getByRole('button', { name: /^Your receipt sent/ }).waitFor();
    await page.getByRole('link', { name: 'Audit' }).click();
    await page.getByRole('list', { name: 'Actions' }).getByText('sent an email again').waitFor();

    await client.query('update notify_sends set status = \'failed\', mail = \'{"text":"Thanks."}\' where id = $1', [
      id,
    ]);
    const { cookie } = await desk.enterAs('reader@example.com');
    const [name = '', value = ''] = cookie.split('=', 2);
    await context.addCookies([{ name, value, url: rig.url }]);
    await page.goto(`${rig.url}/operator/mail?tab=sent&status=failed`);
    await mail.click();
    await page.getByText('No further attempt is made automatically.').waitFor();
    await page.getByText(readersLine).waitFor();
    expect(await page.getByRole('button', { name: 'Send again' }).count()).toBe(0);
    expect((await desk.send('POST', `/api/notify/emails/${id}/retry`, {}, cookie)).status).toBe(403);
    expect(complaints).toEqual([]);
    await context.close();
  });

  /** The focus moves on until it reaches this. */
  async function tabTo(page: Page, wanted: RegExp): Promise<void> {
    const passed: string[] = [];
    for (;;) {
      const name = String(
        await page.evaluate(
          '(({ activeElement: it }) => it.getAttribute("aria-label") || it.labels?.[0]?.textContent || it.textContent || "")(document)',
        ),
      );
      if (wanted.test(name.trim())) return;
      passed.push(name);
      if (passed.length > 80) throw new Error(`No ${wanted} among ${passed.join(', ')}`);
      await page.keyboard.press('Tab');
    }
  }

  it('view a blocked image, blurred, and uphold it with the keyboard only', { timeout: limitMs }, async () => {
    const person = await desk.person();
    const png = await makeImage('png');
    const path = `feed/${randomUUID()}/a.png`;
    const file = join(rig.dataDir, 'legacy', defaultLegacyBucket, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, png);
    await writeFile(join(lists, 'sha256.txt'), digestOf('sha256', png));
    const request = { path, legacyBucket: defaultLegacyBucket, ownerId: person.id, scopeKind: 'thread', scopeId: '1' };
    expect((await desk.internal('media', 'POST', '/v1/assets/legacy', request)).status).toBe(451);

    const { page, context, complaints } = await enter('/operator/incidents');
    await page.getByRole('list', { name: 'Incidents' }).getByRole('link').first().waitFor();
    await tabTo(page, /^Blocked content/);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Blurred preview' }).waitFor();
    await tabTo(page, /^Show it blurred$/);
    await page.keyboard.press('Enter');
    const image = page.getByRole('img', { name: 'The content, strongly blurred' });
    await image.waitFor();
    await judge(page, 'a blurred look');
    expect(Number(await page.evaluate('document.querySelector(".desk-look").naturalWidth'))).toBeLessThanOrEqual(24);
    await tabTo(page, /^Decide$/);
    await page.keyboard.press('Enter');
    await tabTo(page, /^Keep blocked/);
    await page.keyboard.press('Space');
    await tabTo(page, /^Note$/);
    await page.keyboard.type('Known content.');
    await tabTo(page, /^Save the decision$/);
    await page.keyboard.press('Enter');
    await page.getByText('Decided: blocked, just now').waitFor();
    const { body } = await desk.send<{ counts: object }>('GET', '/api/incidents');
    expect(body.counts).toMatchObject({ open: 0, upheld: 1 });

    const { cookie } = await desk.enterAs('reader@example.com');
    const [name = '', value = ''] = cookie.split('=', 2);
    await context.addCookies([{ name, value, url: rig.url }]);
    await page.reload();
    await page.getByRole('region', { name: 'Decision' }).getByText(readersLine).waitFor();
    expect(await page.getByRole('button', { name: /^(Decide|Export)/ }).count()).toBe(0);
    await client.query(
      "insert into jobs (queue, payload, status, attempt, reason, finished_at) values ('memory/judge', '{}', 'dead', 10, 'no', now())",
    );
    await page.goto(`${rig.url}/operator/jobs?queue=memory/judge`);
    await page.getByRole('list', { name: 'Jobs of memory/judge' }).getByRole('listitem').first().waitFor();
    await page.getByText(readersLine).waitFor();
    expect(await page.getByRole('button', { name: /^(Retry|Discard)/ }).count()).toBe(0);
    expect(complaints).toEqual([]);
    await context.close();
  });
});
