/** The Studio: the output of runs, through lost connections, reloads, stops and second tabs. */
import type { Page } from 'playwright-core';
import { fillerOf, label } from '#local/model/model.ts';
import { makeImage } from '../media/images.fixture.ts';
import { judge } from './judging.fixture.ts';
import { chooseOption, enterAsUser } from './rig.fixture.ts';
import type { Given, Scene } from './stage.fixture.ts';

async function enter(given: Given): Promise<void> {
  await enterAsUser(given, given.rig, '/studio');
  await given.page.getByText('What do you want to create?').waitFor();
}

export async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message', { exact: true }).fill(text);
  await page.keyboard.press('Enter');
}

export const stop = (page: Page) => page.getByRole('button', { name: 'Stop' });
export const isDone = (page: Page) => page.getByRole('button', { name: 'Send' }).waitFor();
export const answers = (page: Page) => page.getByRole('article', { name: 'Atelier' });
const spoken = (page: Page) => answers(page).last().locator('.prose').last();

/** An answer that goes on until it is stopped: half a second a word. */
async function beginLongAnswer(page: Page): Promise<void> {
  await say(page, '/slow 600');
  await spoken(page).getByText('Slowly').waitFor();
}

const longAnswer = `${label} Slowly: ${fillerOf(1200).join('')}`;

/** Returns the shown part of the long answer, and checks that it is its beginning, without gaps or repetitions. */
async function answerSoFar({ page, expect }: Given): Promise<string> {
  expect(await answers(page).count()).toBe(1);
  const text = (await spoken(page).innerText()).trim();
  expect(longAnswer.startsWith(text), text).toBe(true);
  return text;
}

/** Waits until the page shows more than `before`. */
async function goesOn(given: Given, before: string): Promise<void> {
  const next = longAnswer.slice(0, longAnswer.indexOf(' ', before.length + 1)).trim();
  await spoken(given.page).filter({ hasText: next }).waitFor();
}

/** Stops the answer, and checks that a page that is loaded then shows all of it. */
async function endsWhole(given: Given): Promise<void> {
  const { page, expect } = given;
  const before = await answerSoFar(given);
  await stop(page).click();
  await isDone(page);
  await page.reload();
  await answers(page).first().waitFor();
  expect(await answerSoFar(given)).toContain(before);
}

/** Plays while others play. */
export function playStudio(scene: Scene): void {
  scene('shows an image and a video where they are made', async (given) => {
    const { page, expect } = given;
    await enter(given);
    await judge(page, 'a new conversation');
    await say(page, 'an image of a lighthouse');
    await page.getByRole('region', { name: 'Generated an image' }).locator('.asset-image.there').waitFor();
    await isDone(page);
    await say(page, 'a video of waves');
    const video = page.locator('video[src]');
    await video.waitFor();
    await video.evaluate('it => new Promise((done) => it.readyState > 0 ? done() : it.onloadedmetadata = done)');
    await isDone(page);
    await page.reload();
    await video.waitFor();
    expect(await page.locator('video').count()).toBe(1);
    expect(await answers(page).count()).toBe(2);
    await judge(page, 'a conversation');
  });

  scene('remembers, recalls and forgets again', async (given) => {
    const { page, expect } = given;
    await enter(given);
    await say(page, 'remember that I like warm colours');
    await page.getByRole('region', { name: 'Remembered' }).waitFor();
    await isDone(page);
    await say(page, 'what do you know about my colours');
    const recalled = page.getByRole('region', { name: 'Searched memory' });
    await recalled.getByText(/warm colours/).waitFor();
    await isDone(page);
    const remembered = page.getByRole('region', { name: 'Remembered' });
    expect(await remembered.getByRole('link', { name: 'See all facts' }).getAttribute('href')).toBe('/memory');
    await remembered.getByRole('button', { name: 'Undo' }).click();
    await page.locator('.toasts').getByText('Forgot “I like warm colours”.').waitFor();
    await remembered.getByRole('button', { name: 'Undo' }).waitFor({ state: 'detached' });
    await page.reload();
    await remembered.getByText('Forgotten or replaced since.').waitFor();
    expect(await remembered.getByRole('button', { name: 'Undo' }).count()).toBe(0);
  });

  scene('attaches the user’s own image', async (given) => {
    const { page, expect } = given;
    await enter(given);
    const buffer = await makeImage('png', { width: 64, height: 64 });
    await page.locator('input[type=file]').setInputFiles({ name: 'mine.png', mimeType: 'image/png', buffer });
    await page.getByRole('button', { name: 'Remove mine.png' }).waitFor();
    await judge(page, 'an attached image');
    await page.getByRole('progressbar').waitFor({ state: 'detached' });
    await say(page, 'edit it: make it blue');
    const edited = page.getByRole('region', { name: 'Edited an image' });
    await edited.locator('.asset-image.there').waitFor();
    expect(await edited.innerText()).not.toContain('assetId');
    await isDone(page);
    await page.reload();
    await page.getByRole('article', { name: 'You' }).getByRole('img').waitFor();
  });

  scene('stops on request, and stores the answer so far', async (given) => {
    const { page, expect } = given;
    await enter(given);
    await beginLongAnswer(page);
    await endsWhole(given);
    await say(page, 'hello');
    await isDone(page);
    expect(await answers(page).count()).toBe(2);
  });

  scene('reports a failed stop or sign-out', async (given) => {
    const { page, complaints, expect } = given;
    await enter(given);
    await beginLongAnswer(page);
    await page.route('**/task/*', (route) => route.abort());
    await stop(page).click();
    await page.getByRole('alert').waitFor();
    // On a slow machine, the page may need the connection again while axe runs.
    await page.unrouteAll();
    await judge(page, 'a stop that failed');
    await endsWhole(given);
    await page.route('**/logout', (route) => route.abort());
    await chooseOption(page, 'Sign out');
    await page.getByRole('status').getByText('The service cannot be reached').waitFor();
    expect(complaints.splice(0).filter((line) => !line.includes('ERR_FAILED'))).toEqual([]);
  });

  scene('replaces a message and all after it, and answers again', async (given) => {
    const { page, expect } = given;
    await enter(given);
    for (const text of ['one', 'two']) {
      await say(page, text);
      await isDone(page);
    }
    await page.getByRole('button', { name: 'Edit the message' }).first().click();
    const editor = page.getByLabel('New text of the message');
    expect(await editor.inputValue()).toBe('one');
    await judge(page, 'an edited message');
    await editor.fill('three');
    await page.keyboard.press('Enter');
    await page.getByText('I understood: “three”').waitFor();
    await isDone(page);
    await page.getByRole('button', { name: 'Answer again' }).click();
    await stop(page).waitFor();
    await isDone(page);
    await page.reload();
    await answers(page).first().waitFor();
    const mine = page.getByRole('article', { name: 'You' }).locator('.said');
    expect(await mine.allInnerTexts()).toEqual(['three']);
  });

  scene('in two tabs, shows the run of one in the other', async (given) => {
    const { page, context, expect } = given;
    await enter(given);
    await say(page, 'hello');
    await isDone(page);
    const second = await context.newPage();
    await beginLongAnswer(page);
    await second.goto(page.url());
    await stop(second).waitFor();
    const seen = (await spoken(page).innerText()).trim();
    await spoken(second).filter({ hasText: seen }).waitFor();
    await stop(second).click();
    await Promise.all([isDone(page), isDone(second)]);
    await spoken(page)
      .filter({ hasText: await spoken(second).innerText() })
      .waitFor();
    // The price of the stopped answer follows when the messages have been read again.
    const texts = (tab: typeof page) => answers(tab).allInnerTexts();
    await expect.poll(async () => (await texts(second)).join() === (await texts(page)).join()).toBe(true);
    expect(await second.getByRole('navigation', { name: 'Conversations' }).getByRole('listitem').count()).toBe(1);
  });

  scene('shows why a video was not generated, and retries it when it can be paid for', async (given) => {
    const { page, expect } = given;
    await enter(given);
    await say(page, '/insufficient');
    const again = page.getByRole('button', { name: 'Try the video again' });
    await again.waitFor();
    await isDone(page);
    await judge(page, 'a video that was not made');
    await again.click();
    await page.locator('video[src]').waitFor();
    expect(await again.count()).toBe(0);
  });
}

/** Plays alone: every connection is cut. */
export function playCuts(scene: Scene): void {
  scene('continues a disconnected answer after its last event, even after a reload', async (given) => {
    const { page, wires, complaints, expect } = given;
    const resumedBehind: string[] = [];
    page.on('request', (request) => {
      const id = request.url().includes('/stream/') ? request.headers()['last-event-id'] : undefined;
      if (id !== undefined) resumedBehind.push(id);
    });
    await enter(given);
    await beginLongAnswer(page);
    wires.agent.cut();
    await goesOn(given, await answerSoFar(given));
    expect(resumedBehind).toHaveLength(1);
    const before = await answerSoFar(given);
    wires.agent.cut();
    await page.reload();
    await goesOn(given, before);
    await endsWhole(given);
    // Chromium logs the lost connection.
    expect(
      complaints.splice(0).filter((line) => !/ERR_INCOMPLETE_CHUNKED|ERR_CONNECTION|ERR_EMPTY/.test(line)),
    ).toEqual([]);
  });
}
