/** The Studio in a real browser: what a run says and makes, through cuts, reloads, stops and second tabs. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { picture } from '../media/pictures.ts';
import { type ConsoleRig, launchChromium, signIn, startConsole, type Visitor, visit, withoutChromium } from './rig.ts';

interface Wire {
  readonly url: string;
  /** Every connection at once. */
  cut(): void;
  close(): void;
}

/** Between the browser and the agent service: something that can be cut. */
async function startWire(portBehind: () => number): Promise<Wire> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const behind = connect(portBehind(), '127.0.0.1');
    for (const [one, other] of [
      [socket, behind],
      [behind, socket],
    ] as const) {
      sockets.add(one);
      one.pipe(other);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    cut,
    close: () => {
      server.close();
      cut();
    },
  };
}

describe.skipIf(withoutChromium)('the Studio', { timeout: 120_000 }, () => {
  let rig: ConsoleRig;
  let browser: Browser;
  let wire: Wire;
  let visitor: Visitor;
  let page: Page;
  beforeAll(async () => {
    wire = await startWire(() => Number(new URL(rig.url).port) + 4);
    [rig, browser] = await Promise.all([startConsole({ AGENT_URL: wire.url }), launchChromium()]);
  }, 120_000);
  afterAll(async () => {
    await browser.close();
    await rig.close();
    wire.close();
  });
  beforeEach(async () => {
    visitor = await visit(browser);
    page = visitor.page;
    await signIn(visitor, `${rig.url}/studio`);
    await page.getByRole('link', { name: 'New conversation' }).click();
    await page.getByText('A new conversation').waitFor();
  });
  afterEach(async () => {
    expect(visitor.complaints).toEqual([]);
    await visitor.context.close();
  });

  const say = async (text: string, tab = page) => {
    await tab.getByLabel('Message').fill(text);
    await tab.keyboard.press('Enter');
  };
  const isDone = (tab = page) => tab.getByRole('button', { name: 'Send' }).waitFor({ timeout: 60_000 });
  const answers = (tab = page) => tab.getByRole('article', { name: 'Atelier' });
  const spoken = (tab = page) => answers(tab).last().locator('.prose').last();
  const words = async (tab = page) => (await spoken(tab).innerText()).split(/\s+/).length;

  it('shows a picture and a video where they are made', async () => {
    await say('an image of a lighthouse');
    await page.getByRole('region', { name: 'Made a picture' }).locator('.picture.there').waitFor({ timeout: 30_000 });
    await isDone();
    await say('a video of waves');
    await page.locator('video[src]').waitFor({ timeout: 60_000 });
    await expect
      .poll(() => page.evaluate('document.querySelector("video").readyState'), { timeout: 20_000 })
      .toBeGreaterThan(0);
    await isDone();
    await page.reload();
    await page.locator('video[src]').waitFor();
    expect(await page.locator('video').count()).toBe(1);
    expect(await answers().count()).toBe(2);
  });

  it('remembers and recalls', async () => {
    await say('remember that I like warm colours');
    await page.getByRole('region', { name: 'Remembered' }).waitFor();
    await isDone();
    await say('what do you know about my colours');
    await page
      .getByRole('region', { name: 'Looked into the memory' })
      .getByText(/warm colours/)
      .waitFor();
    await isDone();
  });

  it('takes a picture of one’s own along', async () => {
    const buffer = await picture('png', { width: 64, height: 64 });
    await page.locator('input[type=file]').setInputFiles({ name: 'mine.png', mimeType: 'image/png', buffer });
    await page.getByAltText('mine.png').waitFor();
    await say('edit it: make it blue');
    await page.getByRole('region', { name: 'Edited a picture' }).locator('.picture.there').waitFor({ timeout: 30_000 });
    await isDone();
    await page.reload();
    await page.getByRole('article', { name: 'You' }).getByRole('img').waitFor();
  });

  it('reloaded in the middle of an answer, shows all of it once', async () => {
    await say('/slow');
    await spoken().getByText('Slowly').waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Stop' }).waitFor();
    await isDone();
    expect(await answers().count()).toBe(1);
    const seen = await answers().innerText();
    await page.reload();
    await answers().waitFor();
    expect(await answers().innerText()).toBe(seen);
  });

  it('cut off in the middle of an answer, goes on behind what it has', async () => {
    const resumedBehind: string[] = [];
    page.on('request', (request) => {
      const id = request.url().includes('/stream/') ? request.headers()['last-event-id'] : undefined;
      if (id !== undefined) resumedBehind.push(id);
    });
    await say('/slow');
    await spoken().getByText('Slowly').waitFor();
    wire.cut();
    await isDone();
    expect(resumedBehind).toHaveLength(1);
    const seen = await answers().innerText();
    await page.reload();
    await answers().waitFor();
    expect(await answers().innerText()).toBe(seen);
    // Chromium tells of the connection that was cut.
    expect(visitor.complaints.splice(0).filter((line) => !/ERR_INCOMPLETE_CHUNKED|ERR_CONNECTION/.test(line))).toEqual(
      [],
    );
  });

  it('stops when it is told to, and keeps what was said', async () => {
    await say('/slow');
    await spoken().getByText('Slowly').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await isDone();
    const said = await words();
    await page.reload();
    await answers().waitFor();
    expect(await words()).toBeGreaterThanOrEqual(said);
    await say('hello');
    await isDone();
    expect(await answers().count()).toBe(2);
  });

  it('goes back to a message and on from there', async () => {
    for (const text of ['one', 'two']) {
      await say(text);
      await isDone();
    }
    await page.getByRole('button', { name: 'Rewind to here' }).first().click();
    expect(await page.getByLabel('Message').inputValue()).toBe('one');
    await say('three');
    await isDone();
    await page.reload();
    await answers().waitFor();
    const mine = page.getByRole('article', { name: 'You' });
    expect(await mine.locator('.said').allInnerTexts()).toEqual(['three']);
  });

  it('in two tabs, shows the run of one in the other', async () => {
    await say('hello');
    await isDone();
    const second = await visitor.context.newPage();
    await say('/slow');
    await spoken().getByText('Slowly').waitFor();
    await second.goto(page.url());
    await second.getByRole('button', { name: 'Stop' }).waitFor();
    await Promise.all([isDone(), isDone(second)]);
    expect(await answers(second).allInnerTexts()).toEqual(await answers().allInnerTexts());
  });

  it('says why a video was not made, and tries it again when it can be paid for', async () => {
    await say('/insufficient');
    const again = page.getByRole('button', { name: 'Try the video again' });
    await again.waitFor({ timeout: 30_000 });
    await isDone();
    await again.click();
    await page.locator('video[src]').waitFor({ timeout: 60_000 });
    expect(await again.count()).toBe(0);
  });
});
