/** The pages of people, incidents and settings, and what operators do there. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ShownRunPage } from '#console/runs/api.ts';
import { launchChromium, withoutChromium } from '../chromium.fixture.ts';
import { digestOf } from '../media/lists.fixture.ts';
import { type Desk, openDesk, type Person } from './desk.fixture.ts';
import { judge } from './judging.fixture.ts';
import { type ConsoleRig, enterAsOperator, startConsole, useVisitors, type Visitor } from './rig.fixture.ts';

const phone = { width: 390, height: 844 };
const desktop = { width: 1440, height: 900 };
const limitMs = 300_000;

describe.skipIf(withoutChromium)('the desk of operators', () => {
  let rig: ConsoleRig;
  let desk: Desk;
  let browser: Browser;
  let lists: string;
  beforeAll(async () => {
    lists = await mkdtemp(join(tmpdir(), 'lists-'));
    const environment = {
      MEDIA_BLOCKED_HASHES: lists,
      OPERATOR_READER_EMAILS: 'reader@example.com',
    };
    [rig, browser] = await Promise.all([startConsole(environment), launchChromium()]);
    desk = await openDesk(rig);
  }, limitMs);
  afterAll(async () => {
    await browser.close();
    await rig.close();
    await rm(lists, { recursive: true, force: true });
  });

  const visit = useVisitors(() => browser);
  async function enter(path: string): Promise<Visitor> {
    const visitor = await visit();
    await enterAsOperator(visitor, rig, path);
    return visitor;
  }

  /** A phone shows the same without a sideways scroll, and with targets that axe accepts. */
  async function look(page: Page, what: string): Promise<void> {
    await judge(page, what);
    await page.setViewportSize(phone);
    expect(Number(await page.evaluate('document.documentElement.scrollWidth'))).toBeLessThanOrEqual(phone.width);
    await page.setViewportSize(desktop);
  }

  const mailTo = ({ email }: Person) => ({ from: 'hello@example.com', to: [email], subject: 'Welcome', text: 'Hello' });

  async function newPerson(): Promise<Person> {
    const person = await desk.person();
    const message = { role: 'user', parts: [{ type: 'text', text: 'Remember that I like long walks by the sea.' }] };
    const threadId = `thread-${randomUUID()}`;
    const started = await person.call('agent', 'POST', '/task', { threadId, message });
    const state = async () => (await person.call('agent', 'GET', `/task/${started.body.taskId}`)).body.status;
    await expect.poll(state, { timeout: 60_000 }).toBe('completed');
    await desk.internal('notify', 'POST', '/emails', mailTo(person));
    return person;
  }

  it('finds a person, adds credits, ends sessions, exports and erases', { timeout: limitMs }, async () => {
    const person = await newPerson();
    const idle = await desk.person();
    const { page, complaints } = await enter('/operator/people');
    await page.getByRole('searchbox').fill(person.email.slice(0, 20).toUpperCase());
    await look(page, 'the people');
    const row = page.getByRole('list', { name: 'People' }).getByRole('listitem');
    await expect
      .poll(() => row.allInnerTexts())
      .toEqual([
        expect.stringMatching(
          /\d+\s+spent this month[\s\S]+cost this month\s+0\s+failed runs this week\s+last use\s+not in a browser/,
        ),
      ]);
    // The figures of the month and the week say that they load, and that they cannot be read.
    const answered = Promise.withResolvers<object>();
    await page.route('**/api/failures?*', async (route) => route.fulfill(await answered.promise));
    await page.reload();
    // The words are for readers of the text, because the columns have names here.
    const failed = row.locator('.desk-figure').filter({ hasText: 'failed runs this week' });
    const read = () => failed.innerText();
    await expect.poll(read).toMatch(/^…\s+failed/);
    answered.resolve({ status: 400, json: { message: 'The service is closed.' } });
    await expect.poll(read).toMatch(/^unavailable\s+failed/);
    expect(await row.getByText('unavailable', { exact: true }).getAttribute('title')).toBe('The service is closed.');
    await page.unroute('**/api/failures?*');
    complaints.splice(0);
    await page.reload();
    await expect.poll(read).toMatch(/^0\s+failed/);
    const plans = await page.getByRole('combobox', { name: 'Plan' }).getByRole('option').allInnerTexts();
    expect(plans).toContain('Basic (yearly)');
    await page.getByText(/^1 person\. This month, all people spent \d+ credits?\./).waitFor();
    // Only people with usage have an order by it.
    await page.getByRole('searchbox').fill('');
    await row.getByText(idle.email).waitFor();
    await page.getByRole('combobox', { name: 'Order' }).selectOption('Most spent this month');
    await expect.poll(() => row.getByText(idle.email).count()).toBe(0);
    await page.getByText('Spent this month ↓').waitFor();
    await look(page, 'the people by what they spent');
    await page.getByRole('link', { name: person.email }).click();
    await page.getByRole('heading', { name: person.email }).waitFor();
    const usage = page.getByRole('region', { name: 'Usage', exact: true });
    await usage.getByText('no tokens reported').first().waitFor({ state: 'attached' });
    await usage.getByText('offline-demo').waitFor();
    const ledger = page.getByRole('region', { name: 'Credit ledger' });
    await ledger.getByText('-1 for runs, images and videos').waitFor();
    // It adds up to the balance.
    const balance = Number((await page.locator('.desk-tiles dd').first().innerText()).replace(/\D/g, ''));
    await ledger.getByText(`+${(balance + 1).toLocaleString('en-US')} · Granted at sign-up`).waitFor();
    const mail = page.getByRole('region', { name: 'Emails' }).getByRole('link', { name: 'Welcome' });
    expect(await mail.getAttribute('href')).toMatch(/^\/operator\/mail\?tab=sent&q=Welcome&id=[\w-]+$/);
    // In the words of the page Mail: this installation has no mail server.
    await page.getByRole('region', { name: 'Emails' }).getByText('stored in the outbox').waitFor();
    await page.getByText('Spent in 30 days').waitFor();
    await page.getByText('Images in 30 days').waitFor();
    expect(await page.getByText('(removed)').count()).toBe(0);
    await look(page, 'a person');

    const audit = page.getByRole('region', { name: 'Audit' });
    await audit
      .getByText('No operator has changed this account. Decisions about content are under Incidents.')
      .waitFor();
    await page.getByLabel('Add credits').fill('-9999999');
    await page.getByText(/^You can remove [\d,]+ credits at most\.$/).waitFor();
    await page.getByLabel('Add credits').fill('25');
    await page.getByRole('combobox', { name: 'Plan' }).selectOption('max');
    await page.getByLabel('Reason').fill('An apology for an outage');
    await page.getByRole('button', { name: 'Save change' }).click();
    await page.getByText('The change was saved.').first().waitFor();
    const changes = page.getByRole('region', { name: 'Credit ledger' });
    await changes.getByText('An apology for an outage').waitFor();
    expect(await changes.textContent()).toContain('Pro to Max');

    // A zero too many is asked about.
    await page.getByLabel('Add credits').fill('10001');
    await page.getByLabel('Reason').fill('A zero too many');
    await page.getByRole('button', { name: 'Save change' }).click();
    await page.getByRole('group', { name: `Add 10,001 credits to ${person.email}?` }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByLabel('Add credits').fill('10000');
    await page.getByRole('button', { name: 'Save change' }).click();
    await changes.getByText('A zero too many').waitFor();

    await page.getByRole('button', { name: 'Block …' }).click();
    await page.getByText(`Blocking ${person.email} ends all sessions`).waitFor();
    const question = page.getByRole('dialog', { name: `Block ${person.email}?` });
    await question.getByText('Other orders in progress end normally').waitFor();
    await question.getByText('choose “Unblock” on the page of this person').waitFor();
    await question.getByText('public links stay').waitFor();
    await look(page, 'the question before a block');
    await question.getByLabel('Reason').fill('Spam in links');
    await question.getByRole('button', { name: `Block ${person.email}`, exact: true }).click();
    await page.getByText('Reason: Spam in links').waitFor();
    await look(page, 'a blocked person');
    await page.getByRole('link', { name: 'All people' }).click();
    await page.getByRole('combobox', { name: 'Status' }).selectOption('Blocked');
    await expect.poll(() => row.allInnerTexts()).toEqual([expect.stringContaining('Blocked')]);
    await page.getByRole('link', { name: person.email }).click();
    await page.getByRole('button', { name: 'Unblock' }).click();
    await page.getByRole('button', { name: 'Yes, unblock' }).click();
    await page.getByRole('region', { name: 'Audit' }).getByText('Unblocked this person').waitFor();

    await page.getByRole('button', { name: 'End sessions' }).click();
    await page.getByRole('button', { name: 'Yes, end sessions' }).click();
    await page.getByText('The sessions were ended.').first().waitFor();
    await page.getByText('just now').first().waitFor();
    await page.getByRole('region', { name: 'Audit' }).getByText('Ended the sessions of this person').waitFor();

    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export everything' }).click();
    expect((await downloading).suggestedFilename()).toBe(`${person.email}.json`);
    await page.getByText('The export was saved as a file.').first().waitFor();
    await audit.getByText('Exported the data of this person').waitFor();

    const erase = page.getByRole('button', { name: 'Erase everything' });
    expect(await erase.isDisabled()).toBe(true);
    const opacity =
      'getComputedStyle([...document.querySelectorAll("button")].find((one) => one.textContent === "Erase everything")).opacity';
    expect(await page.evaluate(opacity)).toBe('0.5');
    await page.getByLabel(/to confirm/).fill(person.email);
    await erase.click();
    await page.getByText('Everything has been erased.').waitFor();
    // The figures of before the erasure are gone.
    expect(await page.getByText('Messages', { exact: true }).count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Export everything' }).count()).toBe(0);
    expect(
      await page
        .getByRole('main')
        .getByRole('link', { name: /^(Runs|Images and videos)$/ })
        .count(),
    ).toBe(0);
    await look(page, 'the report of an erasure');
    expect((await desk.send('GET', `/api/people/${person.id}`)).status).toBe(404);
    await page.getByRole('link', { name: 'Audit' }).click();
    const newest = page.getByRole('list', { name: 'Actions' }).locator('> li').first();
    await newest.getByText('Erased the account').waitFor();
    expect(await newest.getByRole('listitem').allInnerTexts()).toEqual(
      expect.arrayContaining(['Erased conversations: done', 'Erased files: done', 'Erased emails: done']),
    );
    await look(page, 'the audit log');
    expect(complaints).toEqual([]);
  });

  it('finds people, runs, conversations and settings with the keyboard only', { timeout: limitMs }, async () => {
    const person = await newPerson();
    const { body } = await desk.send<ShownRunPage>('GET', `/api/runs?userId=${person.id}`);
    const [run] = body.runs;
    const { page, complaints } = await enter('/operator');
    const search = page.getByRole('combobox', { name: 'Search commands' });
    /** The first of the group is chosen, as it is the best. */
    async function find(text: string, group: string, heading: string | RegExp) {
      await page.keyboard.press('Control+k');
      await search.fill(text);
      const first = page.getByRole('group', { name: group, exact: true }).getByRole('option').first();
      await first.waitFor();
      while ((await first.getAttribute('aria-selected')) !== 'true') await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: heading }).waitFor();
    }
    await find(person.email.slice(0, 30), 'People', person.email);
    await find(run?.taskId ?? '', 'Runs', 'Remember that I like long walks by the sea.');
    // The images of a conversation are found, too, and the page that lists them all.
    const message = { role: 'user', parts: [{ type: 'text', text: 'Make a picture of a kingfisher' }] };
    const started = await person.call('agent', 'POST', '/task', { threadId: `thread-${randomUUID()}`, message });
    const state = async () => (await person.call('agent', 'GET', `/task/${started.body.taskId}`)).body.status;
    await expect.poll(state, { timeout: 60_000 }).toBe('completed');
    await find('kingfisher', 'Images and videos', /kingfisher/);
    expect(new URL(page.url()).searchParams.get('id')).toBe(started.body.taskId);
    await page.keyboard.press('Control+k');
    await search.fill('zzzzqq');
    await page.getByText('0 found', { exact: true }).waitFor({ state: 'attached' });
    await page.getByRole('option', { name: 'Search images and videos for “zzzzqq”' }).click();
    await page.getByText('Nothing matches.').waitFor();
    expect(new URL(page.url()).search).toBe('?kind=generations&q=zzzzqq');
    await find(run?.threadId ?? '', 'Conversations', 'Runs');
    expect(new URL(page.url()).searchParams.get('threadId')).toBe(run?.threadId);
    await find('offline-video', 'Models', 'Images and videos');
    expect(new URL(page.url()).searchParams.get('model')).toBe('offline-video');
    await find('operator reader emails', 'Settings', 'Settings');
    await page.getByText('reader@example.com').waitFor();
    expect(await page.getByText('CONSOLE_TOKEN').count()).toBe(0);
    // An email opens below its subject, in a view that its URL keeps.
    await find(person.email, 'Emails', 'Mail');
    await page.getByRole('button', { name: /^Welcome/, expanded: true }).waitFor();
    expect(new URL(page.url()).searchParams.get('q')).toBe('Welcome');
    await page.getByLabel('Search').fill(person.email);
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe(person.email);
    // The memories of the person, also by the address, which the field replaces by the id.
    await find(person.email, 'This person', 'Runs');
    expect(new URL(page.url()).searchParams.get('userId')).toBe(person.id);
    await page.goto(`${rig.url}/operator/memory`);
    await page.getByLabel('User or group').fill(person.email.toUpperCase());
    await page.getByRole('region', { name: 'This user or group' }).getByText(person.id).waitFor();
    await page.keyboard.press('Control+k');
    await search.fill(person.email.slice(0, 30));
    await page.getByRole('group', { name: 'People' }).waitFor();
    await judge(page, 'the palette with what it found');
    await page.goto(`${rig.url}/operator/runs?kind=generations`);
    const models = page.getByRole('combobox', { name: 'Model' }).getByRole('option');
    await expect.poll(() => models.count()).toBeGreaterThan(2);
    const names = await models.allInnerTexts();
    expect(names).toEqual([...new Set(names)]);
    expect(complaints).toEqual([]);
  });

  it('reads an appeal, looks, clears the incident and rescreens', { timeout: limitMs }, async () => {
    const person = await desk.person();
    const content = Buffer.from(`prohibited ${randomUUID()}`);
    await writeFile(join(lists, 'sha256.txt'), digestOf('sha256', content));
    const place = { assetId: randomUUID(), scopeKind: 'thread', scopeId: '1', kind: 'file', mime: 'text/plain' };
    const { body } = await person.call<{ uploadUrl: string }>('media', 'POST', '/v1/uploads', place);
    const headers = { 'content-type': 'text/plain' };
    await fetch(body.uploadUrl, { method: 'PUT', body: new Uint8Array(content), headers });
    expect((await person.call('media', 'POST', '/v1/assets', place)).status).toBe(451);
    await person.call('media', 'POST', `/v1/incidents/${place.assetId}/appeal`, { text: 'I wrote this poem.' });

    const { page, complaints } = await enter('/operator/incidents');
    await page.getByRole('button', { name: /^Appealed/ }).click();
    const incident = page.getByRole('list', { name: 'Incidents' }).getByRole('link').first();
    await incident.waitFor();
    await page.getByRole('button', { name: 'Rescreen all assets' }).click();
    await page.getByText(/^Last run: /).waitFor();
    expect(await incident.innerText()).toBe('Blocked content');
    await page.getByRole('link', { name: person.email }).waitFor();
    await page.getByRole('link', { name: 'In a conversation' }).waitFor();
    await look(page, 'the incidents');
    await incident.click();
    await page.getByText('I wrote this poem.').waitFor();
    await look(page, 'an incident');
    await page.getByRole('button', { name: 'Show it blurred' }).click();
    await page.getByText(/^The blocked object was removed, and no other image/).waitFor();
    expect(complaints.splice(0)).toEqual([expect.stringContaining('404')]);
    await page.getByRole('button', { name: 'Answer the appeal' }).click();
    const dialog = page.getByRole('dialog', { name: 'Decide about the content' });
    // It was removed when it was blocked, so it cannot be restricted.
    expect(await dialog.getByRole('radio').count()).toBe(2);
    await dialog.getByRole('radio', { name: /^Allow/ }).check();
    await dialog.getByLabel('Note').fill('A poem.');
    await look(page, 'a decision about blocked content');
    await dialog.getByRole('button', { name: 'Save the decision' }).click();
    await page.getByText('Decided: allowed, just now').waitFor();
    const history = page.getByRole('region', { name: 'History' }).getByRole('listitem');
    await expect
      .poll(() => history.allInnerTexts())
      .toEqual([
        expect.stringContaining('Blocked by screening'),
        expect.stringContaining('Appealed by the owner'),
        expect.stringMatching(/Decided: allowed[\s\S]*by console/),
      ]);
    // The way back keeps the filters.
    await page.getByRole('link', { name: 'All incidents' }).click();
    await page.waitForURL(`${rig.url}/operator/incidents?status=appealed`);
    await page.getByRole('button', { name: /^Appealed/, pressed: true }).waitFor();
    const { body: cleared } = await desk.send<{ counts: object }>('GET', '/api/incidents');
    expect(cleared.counts).toMatchObject({ open: 0, cleared: 1 });
    const resolved = encodeURIComponent('POST /v1/incidents/:id/resolution');
    await page.goto(`${rig.url}/operator/audit?action=${resolved}`);
    await page.getByText(/^The content was allowed\./).waitFor();
    await page.getByText('Reason: A poem.').waitFor();
    await page.getByRole('link', { name: 'Open the incident' }).first().click();
    await page.getByText('I wrote this poem.').waitFor();
    expect(complaints).toEqual([]);
  });

  it.each([
    ['runs/', 'run', 'All runs'],
    ['runs?kind=generations&id=', 'order', 'All images and videos'],
    ['incidents/', 'incident', 'All incidents'],
    ['people/', 'person', 'All people'],
  ])('/operator/%s of an unknown %s names it, with a way back', { timeout: limitMs }, async (path, entry, back) => {
    const { page } = await enter('/operator');
    for (const id of [randomUUID(), 'none']) {
      await page.goto(`${rig.url}/operator/${path}${id}`);
      await page.getByText(`There is no such ${entry}.`).waitFor();
      expect(await page.getByText('must be a UUID').count()).toBe(0);
      await page.getByRole('link', { name: back }).waitFor();
    }
  });

  it('opens pages whose path ends with a slash', { timeout: limitMs }, async () => {
    const { page, complaints } = await enter('/operator/?from=a/b/');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(page.url()).toBe(`${rig.url}/operator?from=a/b/`);
    await page.goto(`${rig.url}/operator/jobs/`);
    await page.getByRole('heading', { name: 'Jobs', level: 1 }).waitFor();
    // The tiles of the Overview fill their grid.
    await page.setViewportSize(phone);
    await page.goto(`${rig.url}/operator`);
    await page.getByText('Open incidents').waitFor();
    const rights =
      '[...document.querySelectorAll(".desk-tiles > div")].map((tile) => tile.getBoundingClientRect().right)';
    const edges = (await page.evaluate(rights)) as number[];
    expect(Math.max(...edges) - (edges.at(-1) ?? 0)).toBeLessThan(1);
    await page.setViewportSize(desktop);
    expect(complaints).toEqual([]);
  });

  it('shows settings without secrets, and checks everything', { timeout: limitMs }, async () => {
    const { page, complaints } = await enter('/operator/settings');
    await page.getByRole('link', { name: 'OPERATOR_READER_EMAILS' }).waitFor();
    // A generated secret has not been changed. A search looks through all settings.
    expect(await page.getByText('CONSOLE_TOKEN').count()).toBe(0);
    await page.getByLabel('Find settings').fill('console_token');
    await page.getByText('CONSOLE_TOKEN').waitFor();
    await page.getByText('Default: generated at the first start · required in production').waitFor();
    expect(await page.textContent('main')).not.toContain(await rig.secret('CONSOLE_TOKEN'));
    await page.getByRole('button', { name: 'Check everything' }).click();
    await page.getByText(/^Checked /).waitFor();
    await page.getByText(/^\d+ checks are ok$/).click();
    // As many as the Overview counts.
    await page.getByText('8 services and the console respond').waitFor();
    await look(page, 'the settings');
    // The findings outlast a reload.
    await page.reload();
    await page.getByText(/^Checked /).waitFor();
    // The space stays when the search begins before the next word.
    const search = page.getByLabel('Find settings');
    await search.fill('');
    await page.getByLabel('Only changed settings').waitFor();
    await search.pressSequentially('operator ');
    await page.waitForURL(`${rig.url}/operator/settings?q=operator`);
    await page.waitForTimeout(300);
    expect(await search.inputValue()).toBe('operator ');
    await search.fill('operator_reader');
    await expect.poll(() => page.getByText('CONSOLE_TOKEN').count()).toBe(0);
    await page.getByText('reader@example.com').waitFor();
    await page.getByRole('link', { name: 'OPERATOR_READER_EMAILS' }).click();
    await page.waitForURL(`${rig.url}/operator/settings?q=OPERATOR_READER_EMAILS`);
    expect(complaints).toEqual([]);
  });
});
