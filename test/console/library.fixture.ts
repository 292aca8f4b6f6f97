/** The Library: what is uploaded, shown, copied, downloaded and deleted. */
import { readFile } from 'node:fs/promises';
import { isNightly } from '../lane.fixture.ts';
import { picture } from '../media/pictures.fixture.ts';
import { judge } from './judging.fixture.ts';
import { signIn } from './rig.fixture.ts';
import type { Scene } from './stage.fixture.ts';

export function playLibrary(scene: Scene): void {
  scene('an upload appears, is shown, copied, downloaded with its watermark, and deleted', async (given) => {
    const { page, rig, expect } = given;
    await signIn(given, `${rig.url}/library`);
    await page.getByText('Nothing here yet.').waitFor();
    await judge(page, 'an empty library');
    const name = 'a picture.png';
    const buffer = await picture('png', { width: 300, height: 200 });
    await page.locator('input[type=file]').setInputFiles({ name, mimeType: 'image/png', buffer });
    await page.locator('.tile .picture.there').waitFor();
    await judge(page, 'a library');
    await page.locator('.tile').click();
    const dialog = page.getByRole('dialog', { name: /^Picture of/ });
    await dialog.getByText('300 × 200').waitFor();
    await dialog.locator('.picture.there').waitFor();
    await dialog.getByRole('button', { name: 'Copy' }).click();
    await dialog.getByText('Copied to feed/published.').waitFor();
    await judge(page, 'an asset');
    const download = page.waitForEvent('download');
    await dialog.getByRole('button', { name: 'Download with watermark' }).click();
    const file = await readFile(await (await download).path());
    expect([...file.subarray(0, 3)]).toEqual([0xff, 0xd8, 0xff]);
    await page.keyboard.press('Escape');
    await page.locator('.tile').nth(1).waitFor();
    for (const left of [1, 0]) {
      await page.locator('.tile').first().click();
      await dialog.getByRole('button', { name: 'Delete' }).click();
      if (left === 0) await judge(page, 'the question before a deletion');
      await dialog.getByRole('button', { name: 'Yes, delete' }).click();
      await dialog.waitFor({ state: 'detached' });
      expect(await page.locator('.tile').count()).toBe(left);
    }
    await page.getByText('Nothing here yet.').waitFor();
  });

  scene('a large photograph is uploaded under a bar that fills', async (given) => {
    const { page, rig, expect } = given;
    const [width, height] = isNightly ? [5000, 5000] : [2000, 1500];
    const buffer = await picture('jpeg', { width, height });
    await signIn(given, `${rig.url}/library`);
    await page.evaluate(`globalThis.shares = []; new MutationObserver(() => {
      const bar = document.querySelector('progress'); if (bar) shares.push(bar.value);
    }).observe(document.body, { subtree: true, childList: true, attributes: true })`);
    await page.locator('input[type=file]').setInputFiles({ name: 'photo.jpg', mimeType: 'image/jpeg', buffer });
    await page.locator('.tile .picture.there').waitFor();
    const shares = (await page.evaluate('shares')) as number[];
    expect(shares[0]).toBe(0);
    expect(Math.max(...shares)).toBe(1);
    expect([...shares].sort((one, other) => one - other)).toEqual(shares);
  });

  scene('what is no picture is refused with the reason, and another can be chosen', async (given) => {
    const { page, rig, complaints, expect } = given;
    await signIn(given, `${rig.url}/library`);
    const buffer = Buffer.from('not a picture');
    await page.locator('input[type=file]').setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer });
    await page.getByRole('alert').waitFor();
    await judge(page, 'a refused upload');
    expect(await page.getByRole('button', { name: 'Upload a picture' }).isEnabled()).toBe(true);
    expect(await page.locator('.tile').count()).toBe(0);
    expect(complaints.splice(0).filter((line) => !/status of 4\d\d/.test(line))).toEqual([]);
  });
}
