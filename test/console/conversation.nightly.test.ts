/** The journeys of a conversation: following, failures with a next step, files, threads, a service that goes away. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { Browser, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchChromium, withoutChromium } from '../chromium.fixture.ts';
import { createPostgresDatabase, databaseEngines } from '../database.fixture.ts';
import { makeImage } from '../media/images.fixture.ts';
import { judge } from './judging.fixture.ts';
import { type ConsoleRig, enterAsUser, startConsole, useVisitors, type Visitor } from './rig.fixture.ts';
import { shoot } from './shooting.fixture.ts';
import { startWire, type Wire } from './wire.fixture.ts';

const phone = { width: 390, height: 844 };
const limitMs = 300_000;
/** The buttons of the composer that something covers. */
const coveredControls = `[...document.querySelectorAll('.composer button')].flatMap((it) => {
  const { x, y, width, height } = it.getBoundingClientRect();
  return it.contains(document.elementFromPoint(x + width / 2, y + height / 2)) ? [] : [it.ariaLabel ?? it.textContent];
})`;

const withoutPostgres = databaseEngines.some(({ name, missing }) => name === 'postgres' && missing);

describe.skipIf(withoutChromium || withoutPostgres)('a conversation', () => {
  let rig: ConsoleRig;
  let browser: Browser;
  let wire: Wire;
  let database: Awaited<ReturnType<typeof createPostgresDatabase>>;
  let client: pg.Client;
  beforeAll(async () => {
    wire = await startWire(() => Number(new URL(rig.url).port) + 4);
    database = await createPostgresDatabase();
    client = new pg.Client({ connectionString: database.url });
    const urls = { DATABASE_URL: database.url, AGENT_URL: wire.url };
    [rig, browser] = await Promise.all([
      startConsole(urls, ['idp', 'auth', 'media', 'image', 'edge', 'memory', 'agent', 'console']),
      launchChromium(),
      client.connect(),
    ]);
  }, limitMs);
  afterAll(async () => {
    await browser.close();
    await client.end();
    await rig.close();
    await wire.break();
    await database.drop();
  });

  const visit = useVisitors(() => browser);
  async function enter(email?: string): Promise<Visitor> {
    const visitor = await visit();
    await enterAsUser(visitor, rig, '/studio', email);
    await visitor.page.getByText('What do you want to create?').waitFor();
    return visitor;
  }

  /** The browser must have reported nothing but what the scene caused. */
  function checkComplaints({ complaints }: Visitor, caused = /^$/): void {
    expect(complaints.filter((line) => !caused.test(line))).toEqual([]);
  }

  const field = (page: Page) => page.getByLabel('Message', { exact: true });
  const answers = (page: Page) => page.getByRole('article', { name: 'Atelier' });
  const mine = (page: Page) => page.getByRole('article', { name: 'You' });
  const status = (page: Page, text: string) => page.getByRole('status').getByText(text, { exact: true });
  const threads = (page: Page) => page.getByRole('navigation', { name: 'Conversations' });

  async function send(page: Page, text: string): Promise<void> {
    await field(page).fill(text);
    await field(page).press('Enter');
  }

  async function complete(page: Page, text: string): Promise<void> {
    const before = await answers(page).count();
    await send(page, text);
    await answers(page).nth(before).locator('.prose').last().waitFor();
    await status(page, 'The answer is complete.').waitFor();
  }

  async function grant(email: string, credits: number): Promise<void> {
    const { rowCount } = await client.query('update user_profiles set credits = $2 where email = $1', [email, credits]);
    expect(rowCount).toBe(1);
  }

  it.each([
    ['a desktop', { width: 1440, height: 700 }],
    ['a phone', phone],
  ])('follows the answer on %s, unless one scrolls up', { timeout: limitMs }, async (_name, size) => {
    const visitor = await enter();
    const { page } = visitor;
    await page.setViewportSize(size);
    const view = page.getByRole('region', { name: 'Conversation' });
    const below = () =>
      page.evaluate(
        '(it => it.scrollHeight - it.scrollTop - it.clientHeight)(document.querySelector(".messages"))',
      ) as Promise<number>;
    const offset = () => page.evaluate('document.querySelector(".messages").scrollTop');
    await complete(page, '/long 900');
    await expect.poll(below).toBeLessThan(2);
    const newest = page.getByRole('button', { name: 'Newest' });
    expect(await newest.count()).toBe(0);
    await send(page, '/slow 60');
    await answers(page).nth(1).getByText('Slowly').waitFor();
    await expect.poll(below).toBeLessThan(2);
    await view.hover();
    await page.mouse.wheel(0, -900);
    await newest.waitFor();
    const top = await offset();
    const said = await answers(page).nth(1).innerText();
    await expect.poll(() => answers(page).nth(1).innerText()).not.toBe(said);
    expect(await offset()).toBe(top);
    await page.getByRole('button', { name: 'Stop' }).click();
    await status(page, 'The answer was stopped.').waitFor();
    // One's own message is shown, wherever one was.
    await complete(page, 'hello');
    await expect.poll(below).toBeLessThan(2);
    expect(await newest.count()).toBe(0);
    checkComplaints(visitor);
  });

  it('continues an answer that began while the page was reading the conversation', { timeout: limitMs }, async () => {
    const visitor = await enter();
    const { page, context } = visitor;
    await send(page, '/slow 60');
    await answers(page).getByText('Slowly').waitFor();
    const other = await context.newPage();
    const isBefore = async (route: Route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { task: null } });
    };
    await other.route('**/current-task?*', isBefore, { times: 1 });
    await other.route('**/messages/*', async (route) => {
      const response = await route.fetch();
      const { messages } = await response.json();
      await route.fulfill({ response, json: { messages: messages.slice(0, 1) } });
    });
    await other.goto(page.url());
    await answers(other).getByText('Slowly').waitFor();
    expect(await other.getByText('This message has no answer.').count()).toBe(0);
    await page.getByRole('button', { name: 'Stop' }).click();
    await status(page, 'The answer was stopped.').waitFor();
    await other.close();
    checkComplaints(visitor);
  });

  it('four images are in view together, in the places where they were awaited', { timeout: limitMs }, async () => {
    const visitor = await enter();
    const { page } = visitor;
    await page.getByRole('button', { name: 'Models and ratio' }).click();
    await page.getByRole('group', { name: 'Images at a time' }).getByRole('menuitemradio', { name: '4' }).click();
    await page.keyboard.press('Escape');
    await page.evaluate(`{
      const places = globalThis.places = new Set();
      globalThis.waiting = 0;
      new MutationObserver(() => {
        globalThis.waiting = Math.max(waiting, document.querySelectorAll('.images .place progress').length);
        for (const it of document.querySelectorAll('.images > *')) {
          const { x, width, height } = it.getBoundingClientRect();
          places.add([x, width, height].map(Math.round).join());
        }
      }).observe(document.body, { childList: true, subtree: true });
    }`);
    await complete(page, 'an image of a lighthouse');
    await page.getByRole('region', { name: 'Generated 4 images' }).locator('.asset-image.there').nth(3).waitFor();
    await page.getByText('Here are your 4 images').waitFor();
    const column = await page.locator('.column').boundingBox();
    const grid = await page.locator('.images').boundingBox();
    expect(grid?.x).toBe(column?.x);
    expect(grid?.height).toBeLessThan(0.55 * 900 + 8);
    // One width and one height, in two columns. Each place shows that its image is awaited.
    expect(await page.evaluate('globalThis.places.size')).toBe(2);
    expect(await page.evaluate('globalThis.waiting')).toBe(4);

    // An image of the library is attached.
    await page.getByRole('button', { name: 'Attach files' }).click();
    await page.getByRole('menuitem', { name: 'From the library' }).click();
    const picker = page.getByRole('dialog', { name: 'From your library' });
    await picker.locator('.asset-image.there').nth(3).waitFor();
    await judge(page, 'the images of the library');
    await picker.getByRole('searchbox').fill('zebra');
    await picker.getByText('No images.').waitFor();
    await picker.getByRole('searchbox').fill('lighthouse');
    await picker.getByRole('searchbox').press('Enter');
    await picker.locator('.reference').first().click();
    await picker.waitFor({ state: 'detached' });
    await page
      .getByRole('list', { name: 'Attachments' })
      .getByRole('button', { name: /^Remove/ })
      .waitFor();
    expect(await mine(page).count()).toBe(1);

    // On a phone, the bar has the title, and a tap opens an image, because only one button is over it.
    await page.setViewportSize(phone);
    const bar = page.locator('header.bar');
    await bar.getByText('an image of a lighthouse').waitFor();
    expect(await bar.getByText('Studio', { exact: true }).isVisible()).toBe(false);
    const images = page.locator('.images .media');
    expect(await images.locator('.mediaactions > button').count()).toBe(4);
    const { width, height } = (await images.nth(1).boundingBox()) ?? { width: 0, height: 0 };
    for (const [x, y] of [
      [0.5, 0.5],
      [0.2, 0.1],
      [0.9, 0.9],
    ] as const) {
      await images.nth(1).click({ position: { x: x * width, y: y * height } });
      await page.locator('dialog.lightbox .asset-image.there').waitFor();
      await page.getByRole('button', { name: 'Close' }).click();
      await page.locator('dialog.lightbox').waitFor({ state: 'detached' });
      await images.nth(1).locator('.asset-image.there').waitFor();
    }
    checkComplaints(visitor);
  });

  it('a stop during an image or a video leaves one quiet line', { timeout: limitMs }, async () => {
    const visitor = await enter();
    const { page } = visitor;
    await complete(page, 'hello');
    const video = { kind: 'video', videoId: 'a', assetId: null, taskId: 'b' };
    const failure = { code: 'aborted', message: 'The run was stopped.', retryable: false };
    const call = {
      input: { prompt: 'waves' },
      state: 'output-error',
      errorText: 'The run ended before this tool returned.',
    };
    const parts = [
      { type: 'tool-generateImage', toolCallId: 'c', ...call },
      { type: 'tool-generateVideo', toolCallId: 'd', ...call },
      {
        type: 'tool-generateVideo',
        toolCallId: 'e',
        ...call,
        state: 'output-available',
        output: { ...video, status: 'queued' },
      },
      { type: 'data-video', id: 'a', data: { ...video, status: 'failed', failure } },
    ];
    await page.route('**/messages/*', async (route) => {
      const response = await route.fetch();
      const body = await response.json();
      Object.assign(body.messages[1], { parts });
      Object.assign(body.messages[1].metadata, { status: 'aborted' });
      await route.fulfill({ response, json: body });
    });
    await page.reload();
    await page.getByText('You stopped this answer.').waitFor();
    await page.getByRole('button', { name: 'Try again' }).waitFor();
    expect(await answers(page).getByRole('region').count()).toBe(0);
    expect(await page.getByText('The run was stopped.').count()).toBe(0);
    expect(await page.getByRole('alert').count()).toBe(0);
    await judge(page, 'an answer that was stopped');
    await page.unrouteAll();
    await page.route('**/messages/*', async (route) => {
      const response = await route.fetch();
      const { messages, ...body } = await response.json();
      await route.fulfill({ response, json: { ...body, messages: messages.slice(0, 1) } });
    });
    await page.reload();
    await page.getByText('This message has no answer.').waitFor();
    await page.getByRole('button', { name: 'Try again' }).waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    checkComplaints(visitor);
  });

  it('reports a failed answer, and requests it again', { timeout: limitMs }, async () => {
    const visitor = await enter();
    const { page } = visitor;
    const starts: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/task')) starts.push(request.postData() ?? '');
    });
    await send(page, '/fail');
    const alert = page.getByRole('alert');
    await alert.getByText('The answer failed.').waitFor();
    expect(await status(page, 'The answer is complete.').count()).toBe(0);
    await judge(page, 'a failed answer');
    // A busy service may ask for another try of each.
    const before = starts.length;
    await alert.getByRole('button', { name: 'Try again' }).click();
    await expect.poll(() => starts.length).toBeGreaterThan(before);
    await alert.getByText('The answer failed.').waitFor();
    await expect.poll(() => mine(page).count()).toBe(1);
    await expect.poll(() => answers(page).count()).toBe(1);
    await page.reload();
    await page.getByText('Version 2 of 2').waitFor();
    await answers(page).getByText('Half a sen').waitFor();
    // The cause and the price are still there, also when the conversation goes on.
    const cause = /^The answer failed\. .+\. No credits were taken\.$/;
    await alert.getByText(cause).waitFor();
    await alert.getByRole('button', { name: 'Try again' }).waitFor();
    await complete(page, 'hello');
    await answers(page).first().getByText(cause).waitFor();
    expect(await alert.count()).toBe(0);
    checkComplaints(visitor);
  });

  it('asks again after a stop, also before the first word', { timeout: limitMs }, async () => {
    const visitor = await enter();
    const { page } = visitor;
    await send(page, '/slow 60');
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('You stopped this answer.').waitFor();
    await judge(page, 'a stopped answer');
    await page.getByRole('button', { name: 'Try again' }).click();
    await answers(page).getByText('Slowly').waitFor();
    expect(await mine(page).count()).toBe(1);
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('You stopped this answer.').waitFor();
    checkComplaints(visitor);
  });

  it('a message that cannot be paid for returns to the composer, with a next step', { timeout: limitMs }, async () => {
    const email = `${randomUUID()}@example.com`;
    const visitor = await enter(email);
    const { page } = visitor;
    await grant(email, 0);
    await send(page, 'a message without credits');
    const alert = page.getByRole('alert');
    await alert.getByText('An operator can add credits.').waitFor();
    expect(await field(page).inputValue()).toBe('a message without credits');
    expect(await mine(page).count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
    await page.getByText('Out of credits').waitFor();
    await judge(page, 'a refused message');
    await page.reload();
    await page.getByText('What do you want to create?').waitFor();
    expect(await field(page).inputValue()).toBe('a message without credits');
    await grant(email, 3);
    await field(page).press('Enter');
    await answers(page).getByText('I understood').waitFor();
    await page.getByText('2 credits left').waitFor();
    checkComplaints(visitor, /status of 402/);
  });

  it('an edit without credits drops no message', { timeout: limitMs }, async () => {
    const email = `${randomUUID()}@example.com`;
    const visitor = await enter(email);
    const { page } = visitor;
    await complete(page, 'one');
    await complete(page, 'two');
    await grant(email, 0);
    await page.getByRole('button', { name: 'Edit the message' }).first().click();
    await page.getByLabel('New text of the message').fill('another');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('An operator can add credits.').waitFor();
    expect(await page.getByLabel('New text of the message').inputValue()).toBe('another');
    // The conversation shows changes of its messages with a short delay.
    await expect.poll(() => answers(page).count()).toBe(2);
    await grant(email, 5);
    await page.getByRole('button', { name: 'Send again' }).click();
    await answers(page).getByText('“another”').waitFor();
    expect(await answers(page).count()).toBe(1);
    checkComplaints(visitor, /status of 402/);
  });

  it('an edit keeps what the replaced messages have stored, until the user forgets it', {
    timeout: limitMs,
  }, async () => {
    const visitor = await enter();
    const { page } = visitor;
    const facts = async () => {
      await page.getByRole('link', { name: 'Memory' }).click();
      await page.locator('.fact').first().waitFor();
      const texts = await page.locator('.fact > div > p:first-child').allInnerTexts();
      await page.goBack();
      return texts.join('\n');
    };
    await complete(page, 'remember that my boat is blue');
    await complete(page, 'remember that my cat is called Tom');
    // An edit of an earlier message.
    await page.getByRole('button', { name: 'Edit the message' }).first().click();
    const editor = page.getByRole('textbox', { name: 'New text of the message' });
    await judge(page, 'an edit of a message');
    await editor.fill('remember that my boat is red');
    await editor.press('Enter');
    await status(page, 'The answer is being generated.').waitFor();
    await status(page, 'The answer is complete.').waitFor();
    await page.getByText('Version 2 of 2').waitFor();
    await expect.poll(facts).toContain('red');
    expect(await facts()).toContain('Tom');
    await page.getByRole('button', { name: 'Previous version' }).click();
    const cat = page.getByRole('region', { name: 'Remembered' }).filter({ hasText: 'Tom' });
    await cat.getByRole('button', { name: 'Undo' }).click();
    const notice = page.locator('.toasts').getByText('Forgot “my cat is called Tom”.');
    await notice.waitFor();
    const covered = await page.evaluate(`[...document.querySelectorAll('.message, .composer')].some((it) => {
      const [box, toast] = [it, document.querySelector('.toast')].map((one) => one.getBoundingClientRect());
      return box.right > toast.left && box.left < toast.right && box.bottom > toast.top && box.top < toast.bottom;
    })`);
    expect(covered).toBe(false);
    const forgotten = cat.getByText('Forgotten or replaced since.');
    await forgotten.waitFor();
    await judge(page, 'a fact that was forgotten');
    await shoot(page, 'forgotten');
    expect(await page.getByText('Forgotten or replaced since.').count()).toBe(1);
    expect(await facts()).not.toContain('Tom');
    // Stored again, it has another id.
    await page.locator('.toasts').getByRole('button', { name: 'Undo' }).click();
    await forgotten.waitFor({ state: 'detached' });
    expect(await facts()).toContain('Tom');
    checkComplaints(visitor);
  });

  it('preserves a message in the composer without network', { timeout: limitMs }, async () => {
    const visitor = await enter();
    const { page, context } = visitor;
    const note = status(
      page,
      'You are offline, so your message is not sent. It stays here. Send it when you are online again.',
    );
    await context.setOffline(true);
    await send(page, 'a message without a network');
    await note.waitFor();
    expect(await field(page).inputValue()).toBe('a message without a network');
    expect(await mine(page).count()).toBe(0);
    await judge(page, 'a message that cannot be sent');
    await context.setOffline(false);
    await note.waitFor({ state: 'detached' });
    await field(page).press('Enter');
    await answers(page).getByText('I understood').waitFor();
    await status(page, 'The answer is complete.').waitFor();
    // What is typed stays while one looks at another page, in each conversation and in a new one.
    const text = () => field(page).inputValue();
    const lookAway = async () => {
      await page.getByRole('link', { name: 'Library', exact: true }).click();
      await page.getByRole('heading', { name: 'Library' }).waitFor();
    };
    await field(page).fill('half a thought');
    await lookAway();
    await page.goBack();
    await expect.poll(text).toBe('half a thought');
    await page.getByRole('button', { name: 'New conversation' }).click();
    await page.getByText('What do you want to create?').waitFor();
    expect(await text()).toBe('');
    await field(page).fill('a new idea');
    await lookAway();
    await page.getByRole('link', { name: 'Studio', exact: true }).click();
    await expect.poll(text).toBe('a new idea');
    await field(page).press('Enter');
    await status(page, 'The answer is complete.').waitFor();
    await page.getByRole('button', { name: 'New conversation' }).click();
    await page.getByText('What do you want to create?').waitFor();
    expect(await text()).toBe('');
    // What an example makes is as many as the composer orders.
    await page.evaluate(`localStorage.setItem('atelier.media', '{"count":2}')`);
    await page.reload();
    const example = page.getByRole('button', { name: 'An image of a lighthouse at dusk 1 credit + 4 for 2 images' });
    await example.waitFor();
    await context.setOffline(true);
    await expect.poll(() => example.isDisabled()).toBe(true);
    await context.setOffline(false);
    await expect.poll(() => example.isEnabled()).toBe(true);
    checkComplaints(visitor, /ERR_/);
  });

  it('orders nothing without network, also not when it returns', { timeout: limitMs }, async () => {
    const visitor = await enter();
    const { page, context } = visitor;
    const orders: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST' && /\/(images|shares)$/.test(request.url())) orders.push(request.url());
    });
    await page.getByRole('link', { name: 'Create', exact: true }).click();
    const create = page.getByRole('button', { name: 'Create 4 images' });
    const prompt = page.getByRole('textbox', { name: 'Prompt' });
    await prompt.fill('an order without a network');
    await expect.poll(() => create.isEnabled()).toBe(true);
    await context.setOffline(true);
    await page.getByText('You are offline, so nothing is ordered. It stays here.').waitFor();
    expect(await create.isDisabled()).toBe(true);
    await prompt.press('Control+Enter');
    await judge(page, 'an order that cannot be sent');
    await context.setOffline(false);
    await expect.poll(() => create.isEnabled()).toBe(true);
    expect([await prompt.inputValue(), orders]).toEqual(['an order without a network', []]);

    // Other changes fail at once, and are not sent later either.
    await create.click();
    const result = page.locator('.result.completed').first();
    await result.locator('.there').waitFor();
    await result.hover();
    await result.getByRole('button', { name: 'Edit' }).click();
    const editor = page.getByRole('form', { name: 'Edit the image' });
    await editor.getByLabel('Prompt').fill('a red balloon');
    const generate = editor.getByRole('button', { name: 'Generate the image' });
    await expect.poll(() => generate.isEnabled()).toBe(true);
    await context.setOffline(true);
    await editor.getByText('You are offline, so nothing is ordered. It stays here.').waitFor();
    expect(await generate.isDisabled()).toBe(true);
    await context.setOffline(false);
    await expect.poll(() => generate.isEnabled()).toBe(true);
    await page.keyboard.press('Escape');
    await page.locator('dialog.lightbox').getByRole('button', { name: 'Share', exact: true }).click();
    const publish = page.getByRole('button', { name: 'Create a public link' });
    await publish.waitFor();
    await context.setOffline(true);
    await publish.click();
    await page.getByText('The service cannot be reached.').first().waitFor();
    await context.setOffline(false);
    await expect.poll(() => publish.isEnabled()).toBe(true);
    expect(orders.filter((url) => url.endsWith('/images'))).toHaveLength(1);
    checkComplaints(visitor, /ERR_/);
  });

  it('shows that it reconnects while the service restarts', { timeout: limitMs }, async () => {
    const visitor = await enter();
    const { page } = visitor;
    await send(page, '/slow 60');
    await answers(page).getByText('Slowly').waitFor();
    await wire.break();
    try {
      await page.getByText('Reconnecting …').waitFor();
      expect(await status(page, 'The answer is complete.').count()).toBe(0);
    } finally {
      await wire.mend();
    }
    await page.getByText('Reconnecting …').waitFor({ state: 'detached' });
    const said = await answers(page).innerText();
    await expect.poll(() => answers(page).innerText()).not.toBe(said);
    await page.getByRole('button', { name: 'Stop' }).click();
    await status(page, 'The answer was stopped.').waitFor();
    checkComplaints(visitor, /ERR_|status of 502/);
  });

  it('attaches several files by picker, drop and paste, and names rejected ones', { timeout: limitMs }, async () => {
    const visitor = await enter();
    const { page } = visitor;
    const image = await makeImage('png', { width: 64, height: 64 });
    const file = (name: string, mimeType: string, buffer: Buffer = Buffer.from('The color is teal.')) => ({
      name,
      mimeType,
      buffer,
    });
    await page
      .locator('input[type=file]')
      .setInputFiles([
        file('one.png', 'image/png', image),
        file('notes.txt', 'text/plain'),
        file('archive.zip', 'application/zip'),
        file('empty.txt', 'text/plain', Buffer.alloc(0)),
        file('large.txt', 'text/plain', Buffer.alloc(100_001, 'x')),
      ]);
    const chips = page.getByRole('list', { name: 'Attachments' }).getByRole('listitem');
    expect(await chips.count()).toBe(5);
    await chips.filter({ hasText: 'archive.zip' }).getByText('cannot be attached').waitFor();
    await chips.filter({ hasText: 'empty.txt' }).getByText('is empty').waitFor();
    await chips.filter({ hasText: 'large.txt' }).getByText('Files of this type can have 100 kB').waitFor();
    await judge(page, 'refused files');
    for (const name of ['archive.zip', 'empty.txt', 'large.txt'])
      await page.getByRole('button', { name: `Remove ${name}` }).click();
    for (const kind of ['drop', 'paste']) {
      await page.evaluate(`{
        const transfer = new DataTransfer();
        transfer.items.add(new File(['The place is a harbor.'], '${kind}.md', { type: 'text/markdown' }));
        const target = document.querySelector('.composer textarea');
        target.dispatchEvent('${kind}' === 'drop'
          ? new DragEvent('drop', { dataTransfer: transfer, bubbles: true, cancelable: true })
          : new ClipboardEvent('paste', { clipboardData: transfer, bubbles: true, cancelable: true }));
      }`);
      await chips.filter({ hasText: `${kind}.md` }).waitFor();
    }
    await page.evaluate(`{
      const transfer = new DataTransfer();
      const bytes = Uint8Array.from(atob('${image.toString('base64')}'), (character) => character.charCodeAt(0));
      transfer.items.add(new File([bytes], 'pasted.png', { type: 'image/png' }));
      document.querySelector('.composer textarea')
        .dispatchEvent(new ClipboardEvent('paste', { clipboardData: transfer, bubbles: true, cancelable: true }));
    }`);
    await chips.filter({ hasText: 'pasted.png' }).waitFor();
    await field(page).fill('hello with files');
    await page.getByRole('progressbar').first().waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Send' }).click();
    await answers(page).getByText('I understood').waitFor();
    await page.reload();
    await mine(page).getByText('notes.txt').waitFor();
    await mine(page).getByText('drop.md').waitFor();
    await mine(page).getByText('paste.md').waitFor();
    await mine(page).getByRole('img', { name: 'one.png' }).waitFor();
    await mine(page).getByRole('img', { name: 'pasted.png' }).waitFor();
    checkComplaints(visitor);
  });

  it('lists, finds, renames and deletes conversations, on every device', { timeout: limitMs }, async () => {
    const email = `${randomUUID()}@example.com`;
    const visitor = await enter(email);
    const other = await enter(email);
    const { page } = visitor;
    await complete(page, 'about harbors');
    await page.getByRole('button', { name: 'New conversation' }).click();
    await page.getByText('What do you want to create?').waitFor();
    await complete(page, 'about mountains');
    const today = threads(other.page).getByRole('region', { name: 'Today' });
    await today.getByRole('link', { name: 'about mountains' }).waitFor();
    expect(await today.getByRole('listitem').count()).toBe(2);
    await judge(page, 'threads');

    await page.getByRole('button', { name: 'Options of about harbors' }).click();
    await page.getByRole('menuitem', { name: 'Rename' }).click();
    const title = page.getByRole('textbox', { name: 'Title' });
    await title.fill('Quays and cranes');
    await title.press('Enter');
    await today.getByRole('link', { name: 'Quays and cranes' }).waitFor();

    // The conversation that is open has the same actions above it.
    const head = page.locator('.threadhead');
    await head.getByRole('heading', { name: 'about mountains' }).waitFor();
    await head.getByRole('button', { name: 'Share' }).click();
    await page
      .getByRole('dialog', { name: /^Share/ })
      .getByRole('button', { name: 'Close' })
      .click();
    await head.getByRole('button', { name: 'Options of this conversation' }).click();
    await page.getByRole('menuitem', { name: 'Rename' }).click();
    await head.getByRole('textbox', { name: 'Title' }).fill('Hills');
    await title.press('Enter');
    await today.getByRole('link', { name: 'Hills' }).waitFor();
    await head.getByRole('button', { name: 'Options of this conversation' }).click();
    await page.getByRole('menuitem', { name: 'Rename' }).click();
    await title.fill('about mountains');
    await title.press('Enter');
    await head.getByRole('heading', { name: 'about mountains' }).waitFor();

    const search = page.getByRole('searchbox', { name: 'Search conversations' });
    await search.fill('harbors');
    await threads(page).getByRole('link', { name: 'about mountains' }).waitFor({ state: 'detached' });
    await threads(page).getByRole('link', { name: 'Quays and cranes' }).waitFor();
    await search.fill('no such words');
    await page.getByText('No conversation matches.').waitFor();
    await search.fill('');

    const remove = async () => {
      await page.getByRole('button', { name: 'Options of about mountains' }).click();
      await page.getByRole('menuitem', { name: 'Delete' }).click();
      await threads(page).getByRole('link', { name: 'about mountains' }).waitFor({ state: 'detached' });
    };
    await remove();
    await field(page).fill('a draft');
    expect(await page.evaluate(coveredControls)).toEqual([]);
    await field(page).fill('');
    await page.getByRole('button', { name: 'Undo' }).click();
    await threads(page).getByRole('link', { name: 'about mountains' }).waitFor();
    await mine(page).getByText('about mountains').waitFor();
    await remove();
    await page.getByRole('button', { name: 'Dismiss' }).click();
    await today.getByRole('link', { name: 'about mountains' }).waitFor({ state: 'detached' });
    await today.getByRole('link', { name: 'Quays and cranes' }).waitFor();

    // On a phone, the bar has the title also of a conversation that is not among the newest ones.
    await other.page.route('**/threads?*', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { threads: [], next_cursor: null } });
    });
    const path = await today.getByRole('link', { name: 'Quays and cranes' }).getAttribute('href');
    await other.page.setViewportSize(phone);
    await other.page.goto(`${rig.url}${path}`);
    const bar = other.page.locator('header.bar');
    await bar.getByText('Quays and cranes').waitFor();
    expect(await bar.getByText('Studio', { exact: true }).isVisible()).toBe(false);
    await shoot(other.page, 'older-title');
    checkComplaints(other);
    checkComplaints(visitor);
  });

  it('offers to sign in when the session has ended, and keeps the message', { timeout: limitMs }, async () => {
    const email = `${randomUUID()}@example.com`;
    const visitor = await enter(email);
    const { page, context } = visitor;
    await complete(page, 'about harbors');
    const { href } = new URL(page.url());
    await context.clearCookies();
    await page.route('**/task', (route) =>
      route.fulfill({ status: 401, json: {}, headers: { 'access-control-allow-origin': rig.url } }),
    );
    await send(page, 'about quays');
    const alert = page.getByRole('alert');
    await alert.getByText('Your session has ended. Sign in again to continue. The message was not sent.').waitFor();
    expect(await alert.getByRole('button', { name: 'Try again' }).count()).toBe(0);
    await judge(page, 'a session that has ended');
    await shoot(page, 'session-ended');
    await page.unrouteAll();
    await alert.getByRole('link', { name: 'Sign in' }).click();
    await page.getByPlaceholder('you@example.com').fill(email);
    await page.keyboard.press('Enter');
    await mine(page).getByText('about harbors').waitFor();
    expect(page.url()).toBe(href);
    expect(await field(page).inputValue()).toBe('about quays');
    await field(page).press('Enter');
    await mine(page).getByText('about quays').waitFor();
    checkComplaints(visitor, /status of 401/);
  });

  it('answers with keys alone, and starts a new conversation by a shortcut', { timeout: limitMs }, async () => {
    const visitor = await enter();
    const { page } = visitor;
    await field(page).focus();
    await page.keyboard.type('an image of a lighthouse');
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Generated an image' }).locator('.asset-image.there').waitFor();
    await status(page, 'The answer is complete.').waitFor();
    const first = page.url();
    await page.keyboard.press('Control+Shift+O');
    await page.getByText('What do you want to create?').waitFor();
    expect(page.url()).not.toBe(first);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('lighthouse');
    await page.getByRole('option', { name: /an image of a lighthouse/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(first);
    checkComplaints(visitor);
  });
});
