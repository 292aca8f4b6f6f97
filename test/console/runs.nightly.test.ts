/** Runs as operators see them, and what a conversation shows of code, formulas, sources and its own versions. */
import { randomUUID } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PeoplePage } from '#accounts/people/api.ts';
import type { GenerationRecordPage } from '#agent/records/api.ts';
import { type Provider, startProvider } from '../agent/provider.fixture.ts';
import { launchChromium, withoutChromium } from '../chromium.fixture.ts';
import { type Desk, openDesk } from './desk.fixture.ts';
import { judge } from './judging.fixture.ts';
import { type ConsoleRig, enterAsOperator, enterAsUser, startConsole, useVisitors } from './rig.fixture.ts';

const limitMs = 300_000;
const outage = 'the cluster is on fire';
const rich = [
  'The area is $$\\pi r^2$$ for a radius $r$, and it costs $5, not $10.',
  '',
  '\\[ \\int_0^1 x^2 \\, dx = \\frac{1}{3} \\]',
  '',
  '```python',
  'def area(r):',
  '    # of a circle',
  '    return 3.14 * r ** 2',
  '```',
  '',
  '| Shot | Lens | Light |',
  '| --- | --- | --- |',
  '| Lighthouse at dusk | 35 mm | Short exposure |',
].join('\n');

describe.skipIf(withoutChromium)('runs', () => {
  let provider: Provider;
  let rig: ConsoleRig;
  let desk: Desk;
  let browser: Browser;
  beforeAll(async () => {
    provider = await startProvider();
    provider.on('please fail', { answer: { status: 500, body: JSON.stringify({ error: { message: outage } }) } });
    provider.on('first question', { text: 'The first answer.' });
    provider.on('second question', { text: 'The second answer.' });
    provider.on('show me', { text: rich });
    const args = { prompt: 'a boat at dusk' };
    provider.on('make a film', ({ body }) =>
      JSON.stringify(body).includes('"role":"tool"')
        ? { text: 'It is being made.' }
        : { calls: [{ id: 'film', name: 'generateVideo', args }] },
    );
    provider.on('draw a castle', ({ body }) =>
      JSON.stringify(body).includes('"role":"tool"')
        ? { text: 'It was refused.' }
        : { calls: [{ id: 'castle', name: 'generateImage', args: { prompt: 'a castle' } }] },
    );
    provider.on('go on', { calls: [{ id: 'again', name: 'recallMemory', args: { query: 'castles' } }] });
    const settings = { MODEL_BASE_URL: provider.url, MODEL_NAME: 'scripted', MODEL_API_KEY: 'sk-test' };
    [rig, browser] = await Promise.all([startConsole(settings), launchChromium()]);
    desk = await openDesk(rig);
  }, limitMs);
  afterAll(async () => {
    await browser.close();
    await rig.close();
    provider.close();
  });

  const visit = useVisitors(() => browser);
  const answers = (page: Page) => page.getByRole('article', { name: 'Atelier' });

  async function complete(page: Page, text: string): Promise<void> {
    const field = page.getByLabel('Message', { exact: true });
    await field.fill(text);
    await field.press('Enter');
    await page.getByRole('status').getByText('The answer is complete.', { exact: true }).waitFor();
  }

  it('an operator finds a failed run, its cause and its person', { timeout: limitMs }, async () => {
    const person = await desk.person();
    const message = { role: 'user', parts: [{ type: 'text', text: 'please fail' }] };
    const threadId = `thread-${randomUUID()}`;
    const { body } = await person.call('agent', 'POST', '/task', { threadId, message });
    const state = async () => (await person.call('agent', 'GET', `/task/${body.taskId}`)).body.status;
    await expect.poll(state, { timeout: 60_000 }).toBe('failed');
    const ordered = await person.call('agent', 'POST', '/images', { prompt: 'a lighthouse' });
    expect(ordered.status).toBe(202);
    const drawn = async () => (await person.call('agent', 'GET', `/generations/${ordered.body.id}`)).body.status;
    await expect.poll(drawn, { timeout: 60_000 }).toBe('completed');

    const visitor = await visit();
    await enterAsOperator(visitor, rig, '/operator/runs');
    const { page, complaints } = visitor;
    await page.getByLabel('Status').selectOption('failed');
    const rows = page.getByRole('list', { name: 'Runs' }).getByRole('listitem');
    await rows.getByText(outage).waitFor();
    expect(await rows.getByText('The model provider returned 500.').count()).toBe(1);
    expect(new URL(page.url()).searchParams.get('status')).toBe('failed');
    await rows.getByRole('link', { name: person.email }).waitFor();
    await judge(page, 'the runs');

    // No price is set, so no cost is known.
    expect(await rows.first().getByText('no price set').count()).toBe(1);
    expect(await rows.getByText('$0.00').count()).toBe(0);
    await page.getByLabel('Search').fill('nothing of the kind');
    await page.getByText('Nothing matches.').waitFor();
    await page.getByLabel('Search').fill('PLEASE fa');
    await rows.getByText(outage).waitFor();
    expect(new URL(page.url()).searchParams.get('q')).toBe('PLEASE fa');

    // The model is chosen from those that there are.
    await page.getByLabel('Model').selectOption({ label: 'scripted' });
    await rows.getByRole('link', { name: 'please fail' }).click();
    await page.getByRole('heading', { name: 'please fail' }).waitFor();
    await page.getByText('The model provider returned 500.').first().waitFor();
    await page.getByRole('button', { name: 'Read the stream' }).click();
    await page.getByRole('list', { name: 'Events of the stream' }).getByText('start', { exact: true }).waitFor();
    await judge(page, 'a run');
    // A text of the stream can be copied, and the request too, to repeat it as another user.
    await page
      .getByRole('button', { name: /^Copy the text of/ })
      .first()
      .waitFor();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy the request as curl' }).click();
    const copied = () => page.evaluate('navigator.clipboard.readText()');
    await expect.poll(copied).toMatch(/^curl \S+\/task .*"temporary":true,"model":"scripted".*please fail/);
    // The step that failed has its time and its error.
    const step = page.getByRole('list', { name: 'Steps' }).getByRole('listitem');
    expect(await step.allInnerTexts()).toEqual([
      expect.stringMatching(/Model[\s\S]*failed[\s\S]*\d m?s[\s\S]*The model provider returned 500\./),
    ]);
    // The way back keeps the filters, and another way leads to the same failures.
    const back = await page.getByRole('link', { name: 'All runs' }).getAttribute('href');
    expect(Object.fromEntries(new URL(back ?? '', rig.url).searchParams)).toEqual({
      status: 'failed',
      q: 'PLEASE fa',
      model: 'scripted',
    });
    await page.getByRole('link', { name: 'Other failures with this reason' }).click();
    await rows.getByText(outage).waitFor();
    expect(new URL(page.url()).searchParams.get('q')).toBe(outage);
    await rows.getByRole('link', { name: 'please fail' }).click();
    await page.getByRole('heading', { name: 'please fail' }).waitFor();

    await page.getByRole('link', { name: person.email }).click();
    await page.getByRole('heading', { name: person.email }).waitFor();
    await page.getByRole('region', { name: 'Audit' }).getByText('Read the stream of a run').waitFor();
    await page.getByRole('link', { name: 'Images and videos', exact: true }).click();
    await page
      .getByRole('list', { name: 'Images and videos' })
      .getByText('Offline renderer', { exact: true })
      .waitFor();
    await page.getByRole('heading', { name: 'Images and videos' }).waitFor();
    await page.getByRole('button', { name: 'Show the image' }).click();
    const picture = page.getByRole('img', { name: 'the image' });
    await picture.waitFor();
    await expect.poll(() => picture.evaluate((image) => Reflect.get(image, 'naturalWidth'))).toBeGreaterThan(0);
    await judge(page, 'images and videos');
    await page.getByRole('link', { name: 'a lighthouse' }).click();
    await page.getByRole('heading', { name: 'a lighthouse' }).waitFor();
    await page.getByText('1 of 1').waitFor();
    await page.getByRole('button', { name: 'Copy the order id' }).waitFor();
    await judge(page, 'an order');
    // The places of the image do not name the person again.
    await page.getByRole('link', { name: person.email }).click();
    // What was read less than 15 seconds ago is shown again.
    await page.reload();
    const audit = page.getByRole('region', { name: 'Audit' });
    await audit.getByText('Viewed a file of this person').first().waitFor();
    const order = audit.getByRole('link', { name: 'Open the order' }).first();
    expect(await order.getAttribute('href')).toBe(`/operator/runs?kind=generations&id=${ordered.body.id}`);
    await page.getByRole('region', { name: 'Latest files' }).getByText('Offline renderer', { exact: true }).waitFor();
    const thread = page.getByRole('region', { name: 'Threads' }).getByRole('link', { name: 'please fail' });
    await thread.click();
    await rows.getByText(outage).waitFor();
    expect(await rows.count()).toBe(1);

    // Equal failures are counted, and lead to each other. A refused order took no time.
    await page.route('**/api/runs?*', async (route) => {
      const { runs, ...rest } = await (await route.fetch()).json();
      const twice = runs.flatMap((run: object) => [run, { ...run, taskId: randomUUID() }]);
      await route.fulfill({ json: { runs: twice, ...rest } });
    });
    await page.goto(`${rig.url}/operator/runs?status=failed`);
    await page.getByRole('link', { name: `2 × ${outage}` }).click();
    expect(new URL(page.url()).searchParams.get('q')).toBe(outage);
    await judge(page, 'equal failures');
    await page.goto(`${rig.url}/operator`);
    const attention = page.getByRole('list', { name: 'Needs attention' });
    await attention.getByText(new RegExp(`^2 runs failed since .*: 2 × ${outage}$`)).waitFor();
    // Failed orders and appeals have lines of their own.
    await page.route('**/api/generations?status=failed*', async (route) => {
      const reasons = [outage, outage, 'too slow', 'too large', 'too dark', 'too bright'];
      const failed = { answer: null, endedAt: new Date().toISOString() };
      const generations = reasons.map((failure, id) => ({ ...failed, id: String(id), failure }));
      await route.fulfill({ json: { generations, next_cursor: null } });
    });
    await page.route('**/api/incidents?status=open*', async (route) => {
      const { counts, ...rest } = await (await route.fetch()).json();
      await route.fulfill({ json: { ...rest, counts: { ...counts, open: 4, openAppeals: 1 } } });
    });
    await page.reload();
    const orders = `^6 orders of images or videos failed since .*: 2 × ${outage} · too slow · too large · and 2 more$`;
    await attention.getByText(new RegExp(orders)).waitFor();
    await attention.getByText(/^4 incidents wait for a decision$/).waitFor();
    const appeals = attention.getByRole('listitem').filter({ hasText: /^1 appeal waits for an answer/ });
    expect(await appeals.getByRole('link').getAttribute('href')).toBe('/operator/incidents?status=appealed');
    await page.getByText('yesterday 0', { exact: true }).first().waitFor();
    // What needs attention has its place before it is read.
    await page.getByText(/^\d+ things need your attention$/).waitFor();
    const figures = page.getByLabel('In numbers');
    const place = async () => (await figures.boundingBox())?.y;
    const former = await place();
    const isHeld = Promise.withResolvers<void>();
    await page.route('**/api/notify/emails?status=delayed', async (route) => {
      await isHeld.promise;
      await route.continue();
    });
    await page.goto(`${rig.url}/operator/runs`);
    await page.goto(`${rig.url}/operator`);
    await figures.waitFor();
    expect(await place()).toBe(former);
    isHeld.resolve();
    await page.getByText(/^\d+ things need your attention$/).waitFor();
    await expect.poll(place).toBe(former);
    await page.route('**/api/generations*', async (route) => {
      const { generations, ...rest } = await (await route.fetch()).json();
      await route.fulfill({
        json: { generations: generations.map((one: object) => ({ ...one, tookMs: 0 })), ...rest },
      });
    });
    await page.goto(`${rig.url}/operator/runs?kind=generations`);
    const made = page.getByRole('list', { name: 'Images and videos' });
    await made.getByText('not measured', { exact: true }).first().waitFor({ state: 'attached' });
    expect(await made.getByText('0 ms').count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('an operator sees why an order was refused, and where a run was stopped', { timeout: limitMs }, async () => {
    const person = await desk.person();
    const ask = async (text: string) => {
      const message = { role: 'user', parts: [{ type: 'text', text }] };
      const { body } = await person.call('agent', 'POST', '/task', { threadId: `thread-${randomUUID()}`, message });
      const state = async () => (await person.call('agent', 'GET', `/task/${body.taskId}`)).body.status;
      await expect.poll(state, { timeout: 60_000 }).toBe('completed');
    };
    await ask('go on');
    const { body } = await desk.send<PeoplePage>('GET', `/api/people?ids=${person.id}`);
    // Enough for the run, and not for its image.
    const change = { changeId: randomUUID(), credits: 1 - (body.people[0]?.credits ?? 0), reason: 'a test' };
    await desk.send('POST', `/api/people/${person.id}/credits`, change);
    await ask('draw a castle');
    const path = `/generations/all?userId=${person.id}`;
    const { generations } = (await desk.internal<GenerationRecordPage>('agent', 'GET', path)).body;

    const visitor = await visit();
    await enterAsOperator(visitor, rig, `/operator/people/${person.id}`);
    const { page, complaints } = visitor;
    const refused = page.locator('.desk-tiles > div').filter({ hasText: 'Refused orders' });
    await expect.poll(() => refused.innerText()).toMatch(/^Refused orders\s+1$/);
    await page.getByText('Last use', { exact: true }).waitFor();
    await refused.getByRole('link').click();
    await page.getByLabel('Model').selectOption(generations[0]?.model ?? '');
    await page.getByRole('link', { name: 'a castle' }).click();
    await page.getByText('The price is 2 credits. This person had 0 credits.').waitFor();
    const facts = await page.locator('.desk-tiles').innerText();
    expect(facts).toMatch(/Ratio\s+1:1[\s\S]*Took\s+–/);
    expect(await page.getByRole('main').getByText(/\d ms/).count()).toBe(0);
    await judge(page, 'a refused order');
    await page.getByRole('link', { name: 'Change the credits or the plan' }).click();
    await page.getByRole('heading', { name: 'Account', exact: true }).waitFor();
    await page.goto(`${rig.url}/operator/runs?userId=${person.id}`);
    const row = page.getByRole('list', { name: 'Runs' }).getByRole('listitem').filter({ hasText: 'go on' });
    await row.getByText('stopped at the limit of 8 steps').waitFor();
    await row.getByRole('link', { name: 'go on' }).click();
    await page.getByText(/^The run stopped at the limit of 8 steps/).waitFor();
    expect(complaints).toEqual([]);
  });

  it('an operator sees the video of a run and what it cost', { timeout: limitMs }, async () => {
    const person = await desk.person();
    const message = { role: 'user', parts: [{ type: 'text', text: 'make a film' }] };
    const started = await person.call('agent', 'POST', '/task', { threadId: `thread-${randomUUID()}`, message });
    const ordered = `/generations/all?taskId=${started.body.taskId}`;
    const videos = async () =>
      (await desk.internal<{ generations: { status: string }[] }>('agent', 'GET', ordered)).body.generations;
    await expect
      .poll(async () => (await videos()).map(({ status }) => status), { timeout: 60_000 })
      .toEqual(['completed']);
    const visitor = await visit();
    await enterAsOperator(visitor, rig, `/operator/runs/${started.body.taskId}`);
    const { page, complaints } = visitor;
    const video = page.getByRole('region', { name: 'Video' });
    await video.getByRole('heading', { name: '1 of 1 video delivered' }).waitFor();
    await video.getByText('a boat at dusk').waitFor();
    await video.getByText('40 credits').waitFor();
    const credits = page.locator('.desk-tiles > div').filter({ hasText: 'Credits' });
    expect(await credits.innerText()).toMatch(/^Credits\s+41$/);
    expect(await page.getByRole('list', { name: 'Steps' }).getByText('generateVideo').count()).toBe(1);
    await video.getByRole('button', { name: 'Show the video' }).click();
    await video.getByTitle('Show it larger').click();
    await page.getByRole('dialog').getByRole('link', { name: 'Open the file' }).waitFor();
    await page.keyboard.press('Escape');
    await judge(page, 'a run with a video');
    await page.getByRole('link', { name: 'All runs' }).click();
    const row = page.getByRole('list', { name: 'Runs' }).getByRole('listitem').filter({ hasText: 'make a film' });
    await row.getByText('41 credits', { exact: true }).waitFor();
    await page.goBack();
    await video.getByRole('link', { name: 'The order' }).click();
    await page.getByRole('heading', { name: 'a boat at dusk' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('a failed answer stays marked when the conversation goes on', { timeout: limitMs }, async () => {
    const visitor = await visit();
    const { page, complaints } = visitor;
    await enterAsUser(visitor, rig, '/studio', `f-${randomUUID()}@example.com`);
    await page.getByText('What do you want to create?').waitFor();
    await page.getByLabel('Message', { exact: true }).fill('please fail');
    await page.keyboard.press('Enter');
    const failure = page.getByRole('alert').getByText(/^The answer failed\. .+ No credits were taken\.$/);
    await failure.waitFor();
    await page.reload();
    await failure.waitFor();
    await complete(page, 'first question');
    const marks = page.getByText(/^(This message has no answer\.|The answer failed\. .+)$/);
    await marks.waitFor();
    await page.reload();
    await answers(page).getByText('The first answer.').waitFor();
    await marks.waitFor();
    await judge(page, 'a message without an answer');
    expect(complaints).toEqual([]);
  });

  it('an edit keeps the former version, which can be shown again', { timeout: limitMs }, async () => {
    const visitor = await visit();
    const { page, complaints } = visitor;
    await enterAsUser(visitor, rig, '/studio', `v-${randomUUID()}@example.com`);
    await page.getByText('What do you want to create?').waitFor();
    await complete(page, 'first question');
    await page.getByRole('button', { name: 'Edit the message' }).click();
    await page.getByLabel('New text of the message').fill('second question');
    await page.getByRole('article', { name: 'You' }).getByRole('button', { name: 'Send' }).click();
    await answers(page).getByText('The second answer.').waitFor();
    const versions = page.getByRole('group', { name: 'Versions of the conversation from here' });
    await versions.getByText('Version 2 of 2').waitFor();
    await judge(page, 'two versions');
    await versions.getByRole('button', { name: 'Previous version' }).click();
    await answers(page).getByText('The first answer.').waitFor();
    await versions.getByText('Version 1 of 2').waitFor();
    await page.reload();
    await answers(page).getByText('The first answer.').waitFor();
    await versions.getByRole('button', { name: 'Next version' }).click();
    await answers(page).getByText('The second answer.').waitFor();
    expect(complaints).toEqual([]);
  });

  it('an answer shows formulas, colored code and whole words in tables', { timeout: limitMs }, async () => {
    const visitor = await visit();
    const { page, complaints } = visitor;
    await enterAsUser(visitor, rig, '/studio', `p-${randomUUID()}@example.com`);
    await page.getByText('What do you want to create?').waitFor();
    await complete(page, 'show me');
    await answers(page).locator('math[display="block"]').waitFor();
    expect(await answers(page).locator('math').count()).toBe(3);
    await answers(page).getByText('it costs $5, not $10', { exact: false }).waitFor();
    const code = page.getByRole('figure', { name: 'Code, python' });
    await code.locator('.hljs-keyword').first().waitFor();
    expect(await code.locator('code').textContent()).toContain('    return 3.14 * r ** 2');
    await code.getByRole('button', { name: 'Copy the code' }).waitFor();
    // No word is wider than its cell.
    const isWhole = '[...document.querySelectorAll(".prose td")].every((cell) => cell.scrollWidth <= cell.clientWidth)';
    expect(await page.evaluate(isWhole)).toBe(true);
    await judge(page, 'a rich answer');
    expect(complaints).toEqual([]);
  });
});
