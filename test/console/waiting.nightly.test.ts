/** What waits in a conversation: tool calls for an approval, and messages for the end of an answer, in two tabs. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchChromium, withoutChromium } from '../chromium.fixture.ts';
import { judge } from './judging.fixture.ts';
import { type ConsoleRig, enterAsUser, startConsole, useVisitors, type Visitor } from './rig.fixture.ts';

const limitMs = 300_000;

describe.skipIf(withoutChromium)('in the studio', () => {
  let rig: ConsoleRig;
  let browser: Browser;
  beforeAll(async () => {
    const asking = { AGENT_APPROVAL_CREDITS: '2', AGENT_TOOL_APPROVAL: '{"saveMemory":true}' };
    [rig, browser] = await Promise.all([
      startConsole(asking, ['idp', 'auth', 'media', 'image', 'edge', 'memory', 'agent', 'console']),
      launchChromium(),
    ]);
  }, limitMs);
  afterAll(async () => {
    await browser.close();
    await rig.close();
  });

  const visit = useVisitors(() => browser);
  async function enter(): Promise<Visitor> {
    const visitor = await visit();
    await enterAsUser(visitor, rig, '/studio');
    await visitor.page.getByText('What do you want to create?').waitFor();
    return visitor;
  }
  const field = (page: Page) => page.getByLabel('Message', { exact: true });
  const answers = (page: Page) => page.getByRole('article', { name: 'Atelier' });
  const mine = (page: Page) => page.getByRole('article', { name: 'You' });
  const queue = (page: Page) => page.getByRole('list', { name: 'Queued messages' });
  const said = (page: Page) => page.locator('.message.user .said').allTextContents();
  async function send(page: Page, text: string): Promise<void> {
    await field(page).fill(text);
    await field(page).press('Enter');
  }

  it('a call that waits says what it does and costs, is approved, and survives a reload', {
    timeout: limitMs,
  }, async () => {
    const { page, complaints } = await enter();
    await send(page, 'Please draw an image of a bee');
    const card = page.getByRole('region', { name: 'Generate an image?' });
    await card.getByText('2 credits').waitFor();
    await card.getByText('bee').first().waitFor();
    const facts = () => page.locator('.approval dl > div').allInnerTexts();
    await expect.poll(facts).toContainEqual(expect.stringMatching(/^Model\s*Offline renderer$/));
    await page.getByRole('status').getByText('The answer waits for your approval.', { exact: true }).waitFor();
    await judge(page, 'an approval');
    await page.reload();
    await card.getByRole('button', { name: 'Approve' }).click();
    await answers(page).getByRole('img').first().waitFor();
    await answers(page).locator('.prose').last().waitFor();
    expect(await card.count()).toBe(0);
    expect([await mine(page).count(), await answers(page).count()]).toEqual([1, 1]);
    await page.reload();
    await answers(page).getByRole('img').first().waitFor();
    await send(page, 'A video of waves');
    const ofVideo = page.getByRole('region', { name: 'Generate a video?' });
    await ofVideo.getByRole('button', { name: 'Deny' }).waitFor();
    await expect.poll(facts).toContainEqual(expect.stringMatching(/^Model\s*Offline/));
    expect(await facts()).toContainEqual(expect.stringMatching(/^Length\s*Set by the model$/));
    await ofVideo.getByRole('button', { name: 'Deny' }).click();
    await page.getByText('it was denied').waitFor();
    expect(complaints).toEqual([]);
  });

  it('a denied call is not carried out, and the answer goes on', { timeout: limitMs }, async () => {
    const { page, complaints } = await enter();
    await send(page, 'Remember that I am fond of evenings');
    await page.getByRole('region', { name: 'Remember?' }).getByRole('button', { name: 'Deny' }).click();
    await page.getByRole('region', { name: 'Remember' }).getByText('it was denied').waitFor();
    await answers(page).locator('.prose').last().waitFor();
    await page.reload();
    await page.getByRole('region', { name: 'Remember' }).getByText('it was denied').waitFor();
    expect(complaints).toEqual([]);
  });

  it('a message during an answer is queued in both tabs, and answered after it', { timeout: limitMs }, async () => {
    const visitor = await enter();
    const { page, context, complaints } = visitor;
    await send(page, '/slow 12');
    await answers(page).getByText('Slowly').waitFor();
    const other = await context.newPage();
    await other.goto(page.url());
    await answers(other).getByText('Slowly').waitFor();
    await send(page, 'first of all');
    await queue(page).getByText('first of all').waitFor();
    expect(await field(page).inputValue()).toBe('');
    await send(other, 'and then this');
    for (const tab of [page, other])
      await expect.poll(() => queue(tab).getByRole('listitem').count(), { timeout: 30_000 }).toBe(2);
    await judge(page, 'queued messages');
    for (const tab of [page, other]) {
      await expect.poll(() => said(tab), { timeout: 60_000 }).toEqual(['/slow 12', 'first of all', 'and then this']);
      await expect.poll(() => answers(tab).count(), { timeout: 30_000 }).toBe(3);
      await answers(tab).nth(2).locator('.prose').last().waitFor();
      expect(await queue(tab).count()).toBe(0);
    }
    expect(complaints).toEqual([]);
  });

  it('a queued message is removed, and another one interrupts the answer', { timeout: limitMs }, async () => {
    const { page, context, complaints } = await enter();
    await send(page, '/slow 500');
    await answers(page).getByText('Slowly').waitFor();
    const other = await context.newPage();
    await other.goto(page.url());
    await answers(other).getByText('Slowly').waitFor();
    await send(page, 'not yet');
    await queue(page).getByText('not yet').waitFor();
    await page.getByRole('button', { name: 'Remove from the queue: not yet' }).click();
    await expect.poll(() => field(page).inputValue()).toBe('not yet');
    await queue(other).waitFor({ state: 'detached' });
    await field(other).fill('something else, now');
    await other.getByRole('button', { name: 'Interrupt' }).click();
    for (const tab of [page, other]) {
      await expect.poll(() => said(tab), { timeout: 60_000 }).toEqual(['/slow 500', 'something else, now']);
      await answers(tab).nth(1).locator('.prose').last().waitFor();
    }
    expect([await field(page).inputValue(), await field(other).inputValue()]).toEqual(['not yet', '']);
    expect(complaints).toEqual([]);
  });

  it('a message that the queue refuses stays in the composer', { timeout: limitMs }, async () => {
    const { page } = await enter();
    await send(page, '/slow 500');
    await answers(page).getByText('Slowly').waitFor();
    for (const number of ['one', 'two', 'three', 'four', 'five']) {
      await send(page, number);
      await queue(page).getByText(number, { exact: true }).waitFor();
    }
    await send(page, 'one too many');
    await page.getByRole('alert').waitFor();
    expect(await field(page).inputValue()).toBe('one too many');
    expect(await queue(page).getByRole('listitem').count()).toBe(5);
  });
});
