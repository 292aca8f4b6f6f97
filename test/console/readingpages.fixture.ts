/** The outbox, and pages that only show: public content, reference. */
import { randomUUID } from 'node:crypto';
import type { Announcement, HomeCards } from '#client/content/api.ts';
import { judge } from './judging.fixture.ts';
import { type ConsoleRig, enterAsOperator } from './rig.fixture.ts';
import { shoot } from './shooting.fixture.ts';
import { atNight, type Scene } from './stage.fixture.ts';

async function post(rig: ConsoleRig, path: '/emails' | '/notify', json: unknown): Promise<number> {
  const answer = await fetch(`${rig.addresses.notify}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-internal-key': await rig.secret('INTERNAL_KEY') },
    body: JSON.stringify(json),
  });
  return answer.status;
}

export function playOutbox(scene: Scene): void {
  atNight(scene)('Mail: an empty outbox', async (given) => {
    const { page, rig } = given;
    await enterAsOperator(given, rig, '/operator/mail');
    await page.getByRole('tab', { name: 'Outbox' }).click();
    await page.getByText('The outbox is empty.').waitFor();
    await judge(page, 'an empty outbox');
  });

  scene('Mail: lists sent emails, and shows them in a sandbox', async (given) => {
    const { page, rig, complaints, expect } = given;
    const contact = { email: 'ada@example.com', locale: 'de' };
    expect(await post(rig, '/notify', { type: 'daily_digest', userId: randomUUID(), contact })).toBe(200);
    const html =
      '<p style="color:teal">Hello <b>Ada</b></p><script>parent.document.title = "taken"</script><img src="https://example.com/pixel.png">';
    const mail = { from: 'studio@example.com', to: 'ada@example.com', subject: 'Ein Gruß', html };
    expect(await post(rig, '/emails', mail)).toBe(200);
    await enterAsOperator(given, rig, '/operator/mail');
    await page.getByRole('tab', { name: 'Outbox' }).click();
    const frame = page.frameLocator('iframe');
    await page
      .getByRole('button', { name: /Ein Gruß/ })
      .first()
      .click();
    await frame.getByText('Hello Ada').waitFor();
    expect(await page.title()).toBe('Mail · Atelier');
    await judge(page, 'a mail');
    const mails = page.getByRole('list', { name: 'Emails' }).getByRole('button');
    await mails.filter({ hasNotText: 'Ein Gruß' }).first().click();
    await frame.locator('html[lang=de]').waitFor();
    await page.getByRole('button', { name: 'Show as text' }).click();
    await page.locator('article pre').waitFor();
    await judge(page, 'a mail as text');
    // What the sandbox refused is what was to be refused; nothing was loaded.
    const refused = complaints.splice(0);
    expect(refused.filter((line) => !/sandboxed|Content Security Policy/.test(line))).toEqual([]);
    expect(refused.length).toBeGreaterThan(0);
  });
}

export function playReadingPages(scene: Scene): void {
  scene('Content: in another language', async (given) => {
    const { page, rig, expect } = given;
    // Operators edit it, so the page needs their session.
    await page.goto(`${rig.url}/operator/content`);
    await page.getByRole('heading', { name: 'Sign in as an operator' }).waitFor();
    await enterAsOperator(given, rig, '/operator/content');
    const cards = page.getByRole('region', { name: 'Ideas' });
    const title = cards.getByRole('heading', { level: 3 }).first();
    const english = await title.innerText();
    await page.getByLabel('Language').selectOption('ja');
    await cards.locator('[lang=ja]').waitFor();
    expect(await title.innerText()).not.toBe(english);
    expect(await title.innerText()).toMatch(/[\u3040-\u30ff\u4e00-\u9fff]/);
    // The samples have their images in the console, and name no file.
    expect(await page.getByRole('main').innerText()).not.toMatch(/\.json|CMS_MEDIA_HOSTS/);
    const image = cards.getByRole('listitem').first().locator('img');
    await expect.poll(() => image.evaluate((one) => Reflect.get(one, 'naturalWidth'))).toBeGreaterThan(0);
    await judge(page, 'content');
  });

  scene('Content: operators edit what everyone sees, and the audit log names them', async (given) => {
    const { page, rig, expect } = given;
    const published = async (path: string, language: string): Promise<Partial<Announcement & HomeCards>> =>
      JSON.parse(
        await (await fetch(`${rig.addresses.content}/op/${path}`, { headers: { 'accept-language': language } })).text(),
      );
    await enterAsOperator(given, rig, '/operator/content');
    const announcement = page.getByRole('region', { name: 'Announcement' });
    await announcement.getByText('hidden').waitFor();
    expect(await published('announcement', 'en')).toMatchObject({ visible: false });
    await announcement.getByRole('button', { name: 'Edit' }).click();
    const editor = page.getByRole('dialog');
    await editor.getByLabel('Show it to users').check();
    const warning = editor.getByText('The other languages then show the English text until you translate it.');
    expect(await warning.count()).toBe(0);
    await editor.getByLabel('Title').fill('We are back');
    await warning.waitFor();
    await editor.getByLabel('Language of the texts').selectOption('German');
    await editor.getByLabel('Title').fill('Wir sind zurück');
    await judge(page, 'the editor of the announcement');
    await shoot(page, 'content-editor');
    await editor.getByRole('button', { name: 'Save' }).click();
    await editor.waitFor({ state: 'detached' });
    await announcement.getByText('shown', { exact: true }).waitFor();
    // The line as users see it.
    await announcement.getByText('We are back Choose').waitFor();
    expect(await published('announcement', 'de')).toMatchObject({ visible: true, title: 'Wir sind zurück' });
    // The former Japanese title has its former meaning. The text, which has not changed, keeps its translations.
    const japanese = { title: 'We are back', description: expect.stringMatching(/[\u3040-\u30ff]/) };
    expect(await published('announcement', 'ja')).toMatchObject(japanese);
    await announcement.getByRole('button', { name: 'Hide' }).click();
    await announcement.getByText('hidden').waitFor();
    expect(await published('announcement', 'en')).toMatchObject({ visible: false });

    const ideas = page.getByRole('region', { name: 'Ideas' });
    await ideas.getByRole('button', { name: 'Add an idea' }).click();
    // Without a title and a prompt, or with a wrong link, nothing is saved.
    const save = editor.getByRole('button', { name: 'Save', exact: true });
    const isRefused = async (label: string) =>
      expect(await editor.getByLabel(label).evaluate('document.activeElement.matches(":invalid")')).toBe(true);
    await save.click();
    await isRefused('Title');
    await editor.getByLabel('Featured').check();
    await editor.getByLabel('Title').fill('A harbor');
    await save.click();
    await isRefused('Prompt');
    // A dialog that was closed by mistake comes back with its text.
    await page.keyboard.press('Escape');
    await page.getByText('The changes were not saved.').first().waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    expect(await editor.getByLabel('Title').inputValue()).toBe('A harbor');
    await editor.getByLabel('Prompt').fill('A harbor in fog');
    for (const link of ['not a url', 'http://bad', '//example.com']) {
      await editor.getByLabel('Image URL').fill(link);
      await save.click();
      await isRefused('Image URL');
    }
    await editor.getByLabel('Image URL').fill('');
    await save.click();
    await editor.waitFor({ state: 'detached' });
    const added = ideas.getByRole('listitem').filter({ hasText: 'A harbor in fog' });
    await added.getByText('featured: comes first').waitFor();
    await added.getByText('Explore omits it: it has no image.').waitFor();
    const { cards = [], featuredCardIds } = await published('homecards/v2', 'en');
    expect(featuredCardIds).toContain(cards.find(({ title }) => title === 'A harbor')?.id);
    await added.getByRole('button', { name: 'Edit' }).click();
    await editor.getByRole('button', { name: 'Save as the first' }).click();
    await editor.waitFor({ state: 'detached' });
    await ideas.getByRole('listitem').first().getByText('A harbor in fog').waitFor();
    await added.getByRole('button', { name: 'Edit' }).click();
    await editor.getByRole('button', { name: 'Delete' }).click();
    await editor.getByRole('button', { name: 'Yes, delete' }).click();
    await added.waitFor({ state: 'detached' });
    await shoot(page, 'content');
    await page.getByRole('link', { name: 'Show who changed it' }).click();
    const actions = page.getByRole('list', { name: 'Actions' }).getByRole('listitem');
    const deeds = async () => (await actions.allInnerTexts()).map((text) => text.split('\n')[0]);
    await expect
      .poll(deeds)
      .toEqual([
        'console removed the idea “A harbor”',
        'console changed the order of the ideas',
        expect.stringContaining('A harbor'),
        expect.stringContaining('announcement'),
        expect.stringContaining('announcement'),
      ]);
  });

  scene('API: links to the reference of every service', async ({ page, rig, expect }) => {
    await page.goto(`${rig.url}/operator/api-reference`);
    await page.getByRole('link', { name: 'Reference of media' }).waitFor();
    for (const link of await page.getByRole('link', { name: /^(Reference|OpenAPI) of/ }).all())
      expect((await fetch((await link.getAttribute('href')) ?? '')).status).toBe(200);
    await judge(page, 'the reference');
    await page.getByLabel('Find an endpoint').fill('post reports');
    const endpoint = page.getByRole('list', { name: 'Endpoints' }).getByRole('listitem').first();
    await endpoint.getByText('/v1/reports', { exact: true }).click();
    await endpoint.getByText(/^curl -X POST .*\/v1\/reports/).waitFor();
    await endpoint.getByRole('button', { name: 'Copy the curl command' }).waitFor();
    await judge(page, 'an endpoint');
    // It leads to the operation itself, and the way back is the one of the browser.
    const more = await endpoint.getByRole('link', { name: 'Parameters and responses' }).getAttribute('href');
    expect(await (await fetch(more ?? '')).text()).toContain(`id="${new URL(more ?? '').hash.slice(1)}"`);
    // A path with exactly the word comes before paths that contain it.
    await page.getByLabel('Find an endpoint').fill('task');
    await expect
      .poll(() => page.getByRole('list', { name: 'Endpoints' }).getByRole('listitem').first().innerText())
      .toMatch(/\/task\b/);
    await page.getByLabel('Find an endpoint').fill('post reports');
    await endpoint.getByText('/v1/reports', { exact: true }).waitFor();
    expect(page.url()).toBe(`${rig.url}/operator/api-reference?q=post+reports`);
  });
}
