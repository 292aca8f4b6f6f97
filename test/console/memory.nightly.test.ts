/** Where facts come from, the pause of a memory, and temporary chats, in a real browser. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchChromium, withoutChromium } from '../chromium.fixture.ts';
import { judge } from './judging.fixture.ts';
import { type ConsoleRig, enterAsUser, startConsole, useVisitors } from './rig.fixture.ts';
import { shoot } from './shooting.fixture.ts';
import { isDone, say } from './studio.fixture.ts';

const limitMs = 240_000;

describe.skipIf(withoutChromium)('the memory of a user', () => {
  let rig: ConsoleRig;
  let browser: Browser;
  beforeAll(async () => {
    [rig, browser] = await Promise.all([startConsole(), launchChromium()]);
  }, limitMs);
  afterAll(async () => {
    await browser.close();
    await rig.close();
  });
  const visit = useVisitors(() => browser);

  it('names the origin of each fact, and can be paused', { timeout: limitMs }, async () => {
    const visitor = await visit();
    const { page } = visitor;
    await enterAsUser(visitor, rig, '/studio');
    await say(page, 'remember that I like cold blue light');
    await page.getByRole('region', { name: 'Remembered' }).waitFor();
    await isDone(page);
    const conversation = page.url();
    await page.getByRole('link', { name: 'Memory' }).click();
    const fact = (text: string) => page.locator('.fact', { hasText: text });
    await page.getByRole('button', { name: 'Add a fact' }).click();
    const field = page.getByLabel('Fact', { exact: true });
    expect(await field.getAttribute('placeholder')).toContain('For example');
    await field.fill('I paint on Sundays');
    await page.getByRole('button', { name: 'Save' }).click();
    await fact('I paint on Sundays').getByText('Added by you').waitFor();
    const origin = () => fact('cold blue light').getByRole('link', { name: /^From “.+”$/ });
    await origin().waitFor();
    // It is above the facts.
    const switchTop = await page.getByRole('switch', { name: 'Pause memory' }).boundingBox();
    const firstTop = await page.locator('.fact').first().boundingBox();
    expect(switchTop?.y).toBeLessThan(Number(firstTop?.y));
    await judge(page, 'facts with their origins');
    await shoot(page, 'memory');
    await page.getByRole('searchbox', { name: 'Search memories' }).fill('light');
    await origin().click();
    await page.waitForURL(conversation);

    await page.getByRole('link', { name: 'Memory' }).click();
    const pause = page.getByRole('switch', { name: 'Pause memory' });
    await pause.click();
    await page.getByText('Memory is paused.').waitFor();
    await expect.poll(() => pause.isEnabled()).toBe(true);
    expect(await page.getByRole('button', { name: 'Add a fact' }).count()).toBe(0);
    await fact('I paint on Sundays').waitFor();
    await judge(page, 'a paused memory');
    await shoot(page, 'memory-paused');
    await page.reload();
    await expect.poll(() => pause.isChecked()).toBe(true);

    await page.getByRole('link', { name: 'Studio' }).first().click();
    await page.getByRole('button', { name: 'New conversation' }).first().click();
    await say(page, 'remember that I keep two parrots');
    await isDone(page);
    const attempt = page.getByRole('region', { name: 'Nothing was remembered' });
    await attempt.getByText('The user has paused the memory, so nothing is remembered.').waitFor();
    await page.getByRole('link', { name: 'Memory' }).click();
    await fact('I paint on Sundays').waitFor();
    expect(await page.locator('.fact').count()).toBe(2);

    // The pause is the wish of the user, and outlives what is erased.
    await page.getByRole('button', { name: 'Erase everything' }).click();
    const dialog = page.getByRole('dialog', { name: 'Erase your memory?' });
    await dialog.getByLabel('Type “erase” to confirm').fill('erase');
    await dialog.getByRole('button', { name: 'Erase everything' }).click();
    await page.getByText('has not stored anything about you yet').waitFor();
    await expect.poll(() => pause.isChecked()).toBe(true);
    await pause.click();
    await page.getByRole('button', { name: 'Add a fact' }).waitFor();
  });

  it('is not touched by a temporary chat, which is in no list', { timeout: limitMs }, async () => {
    const visitor = await visit();
    const { page } = visitor;
    await enterAsUser(visitor, rig, '/studio');
    await page.getByRole('button', { name: 'Temporary chat', pressed: false }).click();
    await page.getByRole('button', { name: 'Temporary chat', pressed: true }).waitFor();
    await page.getByRole('heading', { name: 'A temporary chat' }).waitFor();
    const note = page.getByText('It is not in your list, and is deleted 24 hours after its last message.');
    await note.waitFor();
    await judge(page, 'a new temporary chat');
    await shoot(page, 'temporary-new');
    await say(page, 'remember that I keep two parrots');
    await isDone(page);
    await note.waitFor();
    // However far the conversation is scrolled.
    const mark = page.locator('.below').getByText('Temporary chat', { exact: true });
    expect(await mark.isVisible()).toBe(true);
    await judge(page, 'a temporary chat');
    await shoot(page, 'temporary');
    await page.reload();
    await page.getByText('I keep two parrots').first().waitFor();
    await note.waitFor();
    await say(page, 'remember that I have a cat');
    await isDone(page);
    // Its owner ends it at once, and keeps another one.
    const ended = page.url();
    await page.getByRole('button', { name: 'Delete now' }).click();
    await page.getByRole('button', { name: 'Yes, delete now' }).click();
    await expect.poll(() => page.url()).not.toBe(ended);
    await page.getByRole('button', { name: 'Temporary chat', pressed: false }).click();
    await say(page, 'a chat that stays');
    await isDone(page);
    await page.getByRole('button', { name: 'Keep it' }).click();
    await mark.waitFor({ state: 'detached' });
    const all = page.getByRole('navigation', { name: 'Conversations' }).getByRole('link');
    await expect.poll(() => all.allInnerTexts()).toEqual([expect.stringContaining('a chat that stays')]);
    await page.reload();
    await page.getByText('Nothing is remembered from this conversation.').waitFor();

    await page.goto(`${rig.url}/studio`);
    await say(page, 'an ordinary question');
    await isDone(page);
    expect(await mark.count()).toBe(0);
    const list = page.getByRole('navigation', { name: 'Conversations' });
    await list.getByRole('link', { name: 'an ordinary question' }).waitFor();
    expect(await list.getByRole('link').count()).toBe(2);
    expect(await note.count()).toBe(0);
    await page.getByRole('link', { name: 'Memory' }).click();
    await page.getByText('has not stored anything about you yet').waitFor();
  });
});
