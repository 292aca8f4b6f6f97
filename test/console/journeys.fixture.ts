/** One journey through each page of users: a conversation, the library, the memory. */
import type { Locator, Page } from 'playwright-core';
import { makeImage } from '../media/images.fixture.ts';
import { judge } from './judging.fixture.ts';
import { enterAsUser } from './rig.fixture.ts';
import { atNight, type Scene } from './stage.fixture.ts';
import { answers, isDone, say, stop } from './studio.fixture.ts';

/** Sends a message, and waits for its complete answer. */
async function complete(page: Page, text: string): Promise<void> {
  const before = await answers(page).count();
  await say(page, text);
  await answers(page).nth(before).locator('.prose').last().waitFor();
  await isDone(page);
}

const fileOf = async (seed: number) => ({
  name: `image ${seed}.png`,
  mimeType: 'image/png',
  buffer: await makeImage('png', { width: 300, height: 200, seed }),
});

export function playJourneys(scene: Scene): void {
  scene('a conversation follows its answer, and shows images, a stop and an edit after a reload', async (given) => {
    const { page, rig, expect } = given;
    const mine = page.getByRole('article', { name: 'You' });
    const edited = page.getByRole('region', { name: 'Edited an image' }).locator('.asset-image.there');
    const pixelsBelow = () =>
      page.evaluate(
        '(it => it.scrollHeight - it.scrollTop - it.clientHeight)(document.querySelector(".messages"))',
      ) as Promise<number>;
    await enterAsUser(given, rig, '/studio');
    await page.getByText('What do you want to create?').waitFor();
    await judge(page, 'a new conversation');
    await page.locator('input[type=file]').setInputFiles(await fileOf(1));
    await page.getByRole('button', { name: 'Remove image 1.png' }).waitFor();
    await page.getByRole('progressbar').waitFor({ state: 'detached' });
    await complete(page, 'edit it: make it blue');
    await edited.waitFor();

    await complete(page, '/long 300');
    await expect.poll(pixelsBelow).toBeLessThan(2);
    await say(page, '/slow 600');
    await answers(page).nth(2).getByText('Slowly').waitFor();
    await stop(page).click();
    await page.getByRole('status').getByText('The answer was stopped.', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Edit the message' }).last().click();
    await page.getByLabel('New text of the message').fill('something shorter');
    await page.keyboard.press('Enter');
    await page.getByText('I understood: “something shorter”').waitFor();
    await isDone(page);

    await page.reload();
    await edited.waitFor();
    await mine.getByRole('img', { name: 'image 1.png' }).waitFor();
    expect(await mine.locator('.said').allInnerTexts()).toEqual([
      'edit it: make it blue',
      '/long 300',
      'something shorter',
    ]);
    expect(await answers(page).count()).toBe(3);
    await judge(page, 'a conversation');
  });

  scene('the library uploads, filters, opens, deletes and brings back', async (given) => {
    const { page, rig, complaints, expect } = given;
    const tiles = page.locator('.tile');
    const open = (tile: Locator) => tile.locator('.open');
    const notices = page.locator('.toasts');
    await enterAsUser(given, rig, '/library');
    await page.getByText('Nothing here yet.').waitFor();
    const broken = { name: 'broken.png', mimeType: 'image/png', buffer: Buffer.from('not an image') };
    const images = await Promise.all([fileOf(1), fileOf(2), fileOf(3)]);
    await page.locator('input[type=file]').setInputFiles([...images, broken]);
    await page.getByText('The image is damaged or is not an image.').waitFor();
    await page.getByText('1 of 4 not uploaded').waitFor();
    expect(complaints.splice(0).filter((line) => !/status of 4\d\d/.test(line))).toEqual([]);
    await page.locator('.tile .asset-image.there').nth(2).waitFor();
    await judge(page, 'a library');
    await page.getByText('Videos', { exact: true }).click();
    await page.getByText('Nothing matches.').waitFor();
    await page.getByText('Images', { exact: true }).click();
    await expect.poll(() => tiles.count()).toBe(3);

    await open(tiles.first()).click();
    const box = page.getByRole('dialog');
    await box.locator('.asset-image.there').waitFor();
    await judge(page, 'an asset');
    const first = page.url();
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => page.url()).not.toBe(first);
    await page.keyboard.press('Escape');
    await box.waitFor({ state: 'detached' });

    await tiles.first().hover();
    await tiles.first().getByRole('checkbox').click();
    await open(tiles.nth(1)).click({ modifiers: ['Shift'] });
    await page.getByText('2 selected').waitFor();
    await page.getByRole('toolbar', { name: 'Selection' }).getByRole('button', { name: 'Delete' }).click();
    await notices.getByText('2 items moved to the trash.', { exact: true }).waitFor();
    expect(await tiles.count()).toBe(1);
    await notices.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => tiles.count()).toBe(3);
    await open(tiles.first()).focus();
    await page.keyboard.press('Delete');
    await notices.getByText('Moved to the trash.', { exact: true }).waitFor();
    const countAfterReload = async () => {
      await page.reload();
      await tiles.first().waitFor();
      return tiles.count();
    };
    await expect.poll(countAfterReload).toBe(2);
    await page.goto(`${rig.url}/trash`);
    await tiles.first().getByRole('checkbox').click();
    await page.getByRole('toolbar').getByRole('button', { name: 'Restore' }).click();
    await page.getByText('The trash is empty.').waitFor();
    await page.goto(`${rig.url}/library`);
    await expect.poll(() => tiles.count()).toBe(3);
  });

  atNight(scene)('a user’s memory shows a fact of a conversation, and forgets it', async (given) => {
    const { page, rig } = given;
    await enterAsUser(given, rig, '/studio');
    await say(page, 'remember that I like cold blue light');
    await page.getByRole('region', { name: 'Remembered' }).waitFor();
    await isDone(page);
    await page.getByRole('link', { name: 'Memory' }).click();
    await page.locator('.fact').getByText('I like cold blue light', { exact: true }).waitFor();
    await judge(page, 'the memory of a user');
    await page.getByRole('button', { name: /^Forget: .*cold blue light/ }).click();
    await page.getByText('Atelier has not stored anything about you yet.').waitFor();
    await page.reload();
    await page.getByText('Atelier has not stored anything about you yet.').waitFor();
  });
}
