/** One whole way with nothing but keys: sign in, ask for an image, find it in the library, delete it. */
import type { Page } from 'playwright-core';
import { enterAsOperator } from './rig.fixture.ts';
import type { Scene } from './stage.fixture.ts';

/** What has the focus, as it is named. */
const focused = (page: Page) =>
  page.evaluate(
    '(({ activeElement: it }) => it.getAttribute("aria-label") || it.textContent || it.id)(document)',
  ) as Promise<string>;

/** Moves the focus until it is there. */
async function tabTo(page: Page, wanted: RegExp, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  const passed: string[] = [];
  while (!wanted.test(await focused(page))) {
    if (passed.length > 60) throw new Error(`No ${wanted} among ${passed.join(', ')}`);
    passed.push(await focused(page));
    await page.keyboard.press(key);
  }
}

export function playKeyboard(scene: Scene): void {
  scene('from the sign-in over a chat to the deletion of its image', async ({ page, rig, expect }) => {
    await page.goto(`${rig.url}/studio`);
    await page
      .getByRole('link', { name: /^Sign in/ })
      .first()
      .waitFor();
    await tabTo(page, /^Sign in/);
    await page.keyboard.press('Enter');
    await page.getByPlaceholder('you@example.com').waitFor();
    while (!(await page.evaluate('document.activeElement.type === "email"'))) await page.keyboard.press('Tab');
    await page.keyboard.type('keys@example.com');
    await page.keyboard.press('Enter');
    await page.getByText('What do you want to create?').waitFor();
    await tabTo(page, /^Message$/);
    await page.keyboard.type('an image of a lighthouse');
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Generated an image' }).locator('.asset-image.there').waitFor();
    await page.getByRole('button', { name: 'Send' }).waitFor();
    await tabTo(page, /^Library$/, 'Shift+Tab');
    await page.keyboard.press('Enter');
    await page.locator('.tile').waitFor();
    await tabTo(page, /^Image: /);
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    await tabTo(page, /^Delete$/);
    await page.keyboard.press('Enter');
    await page.getByText('Nothing here yet.').waitFor();
    await dialog.waitFor({ state: 'detached' });
    // Its image is gone, so the focus cannot go back to it.
    expect(await page.evaluate('document.activeElement.id')).toBe('main');
  });

  scene('the focus skips to the page, follows a navigation, and returns from a dialog', async (given) => {
    const { page, rig, expect } = given;
    await enterAsOperator(given, rig);
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('Skip to the page');
    await tabTo(page, /^Memory$/);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Memory', level: 1 }).waitFor();
    expect(await page.evaluate('document.activeElement.id')).toBe('main');
    await tabTo(page, /^New memory$/);
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'New memory' });
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(await focused(page)).toBe('New memory');
  });
}
