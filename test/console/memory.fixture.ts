/** The memory back office: created, found, edited, undone, in conflict, exported, erased; profiles. */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { judge } from './judging.fixture.ts';
import { enterAsOperator } from './rig.fixture.ts';
import type { Scene } from './stage.fixture.ts';

async function create(page: Page, entityId: string, content: string): Promise<void> {
  await page.getByRole('button', { name: 'New memory' }).click();
  const dialog = page.getByRole('dialog', { name: 'New memory' });
  await dialog.getByLabel('Email address of the user, or id').fill(entityId);
  await dialog.getByLabel('Fact').fill(content);
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.waitFor({ state: 'detached' });
}

export function playMemory(scene: Scene): void {
  scene('created, found, edited, undone, exported, erased', async (given) => {
    const { page, rig, complaints, expect } = given;
    const someone = randomUUID();
    await enterAsOperator(given, rig, '/operator/memory');
    await page.getByLabel('User or group', { exact: true }).fill(someone);
    await page.getByText(`No memories of User ${someone.slice(0, 8)}.`).waitFor();
    await judge(page, 'an empty memory');
    await page.getByRole('button', { name: 'New memory' }).click();
    await judge(page, 'the form for a memory');
    await page.keyboard.press('Escape');
    await create(page, someone, 'Prefers square images of harbours');
    await page.getByText('Added by an operator').waitFor();
    await page.getByLabel('Search').fill('HARBOURS');
    await page.getByRole('button', { name: /Prefers square images/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Content').fill('Prefers wide images of harbours');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('edit by operator').waitFor();
    await dialog.getByRole('button', { name: 'Undo the newest change' }).click();
    await dialog.getByText('undone').waitFor();
    expect(await dialog.getByLabel('Content').inputValue()).toBe('Prefers square images of harbours');
    await judge(page, 'a memory with its history');
    await page.keyboard.press('Escape');
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export' }).click();
    expect(await readFile(await (await download).path(), 'utf8')).toContain('square images of harbours');
    await page.getByRole('button', { name: 'Erase everything' }).click();
    await judge(page, 'the question before an erasure');
    await page.getByRole('button', { name: 'Yes, erase everything' }).click();
    await page.getByText('Erased.').waitFor();
    await page.getByText(`No memories of User ${someone.slice(0, 8)}.`).waitFor();
    await page.getByLabel('User or group', { exact: true }).fill('unknown@example.com');
    await page.getByText('No user has this email address.').waitFor();
    expect(await page.getByRole('region', { name: 'This user or group' }).count()).toBe(0);
    await page.goto(`${rig.url}/operator/memory?memory=${someone}`);
    await page.getByText('There is no such memory.').waitFor();
    // The browser logs each of its two responses.
    await expect.poll(() => complaints.length).toBe(2);
    complaints.length = 0;
  });

  scene(
    'marks a conflict on both memories, shows them side by side, and clears it when one is deleted',
    async (given) => {
      const { page, rig, expect } = given;
      const someone = randomUUID();
      await enterAsOperator(given, rig, '/operator/memory');
      await page.getByLabel('User or group', { exact: true }).fill(someone);
      await create(page, someone, 'Likes loud music');
      await create(page, someone, 'Does not like loud music');
      await page.getByText('in conflict').nth(1).waitFor();
      await judge(page, 'memories in conflict');
      await page.getByRole('button', { name: /^Likes loud music/ }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: /^Does not like loud music\s*conflict/ }).waitFor();
      await judge(page, 'a memory in conflict');
      await dialog.getByRole('link', { name: 'Profile' }).waitFor();
      await dialog.getByRole('button', { name: /^Does not like loud music/ }).click();
      await dialog.getByText('Does not like loud music').first().waitFor();
      expect(await dialog.getByLabel('Content').inputValue()).toBe('Does not like loud music');
      await page.goBack();
      const read: string[] = [];
      page.on('request', (request) => void (request.method() === 'GET' && read.push(request.url())));
      const deletion = page.waitForRequest((request) => request.method() === 'DELETE');
      await dialog.getByRole('button', { name: 'Keep the opened one' }).click();
      await dialog.getByRole('button', { name: 'Yes, keep the opened one' }).click();
      await dialog.getByRole('button', { name: /conflict$/ }).waitFor({ state: 'detached' });
      // The deleted memory is not read again.
      expect(read).not.toContain((await deletion).url());
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      expect(await page.getByText('in conflict').count()).toBe(0);
      await page.getByRole('button', { name: /^Likes loud music/ }).waitFor();
    },
  );

  scene('a profile: corrects and locks a fact, adds one, and preserves facts of several lines', async (given) => {
    const { page, rig, complaints, expect } = given;
    const someone = randomUUID();
    await enterAsOperator(given, rig, '/operator/memory');
    await page.getByLabel('User or group', { exact: true }).fill(someone);
    await create(page, someone, 'Likes harbours at night');
    await create(page, someone, 'My name is Ada');
    await page.getByRole('tab', { name: 'Profiles' }).click();
    await page.getByLabel('Search').fill(someone);
    const dialog = page.getByRole('dialog');
    const open = () => page.getByRole('button', { name: new RegExp(`User ${someone.slice(0, 8)}`) }).click();
    await open();
    const preferences = await dialog.getByLabel('preferences').inputValue();
    expect(preferences.split('\n')).toHaveLength(2);
    await judge(page, 'a profile');
    await dialog.getByLabel('display_name').fill('Ada L.');
    await dialog.getByLabel('New fact').fill('pronouns');
    await dialog.getByLabel('Its value').fill('she');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('4 facts').waitFor();
    await open();
    // The URL has the profile and the search.
    await page.reload();
    await page.getByRole('dialog', { name: `Profile of User ${someone.slice(0, 8)}` }).waitFor();
    expect(await page.getByLabel('Search').inputValue()).toBe(someone);
    await dialog.getByRole('link', { name: `User ${someone.slice(0, 8)}` }).click();
    await page.getByText('There is no such person.').waitFor();
    expect(complaints.splice(0)).toEqual([expect.stringContaining('404')]);
    await page.goBack();
    expect(await dialog.getByLabel('display_name (locked)').inputValue()).toBe('Ada L.');
    expect(await dialog.getByLabel('pronouns (locked)').inputValue()).toBe('she');
    const whole = dialog.getByRole('textbox', { name: 'preferences (from memories)', exact: true });
    expect(await whole.inputValue()).toBe(preferences);
    await page.goBack();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'All memories of this user' }).click();
    await page.getByRole('button', { name: /^Likes harbours at night/ }).click();
    await page.reload();
    await page
      .getByRole('dialog', { name: 'Memory' })
      .getByText(`User ${someone.slice(0, 8)}`)
      .waitFor();
  });
}
