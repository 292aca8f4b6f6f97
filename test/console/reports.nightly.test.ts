/** A report in a real browser, from an upload to the answer of an appeal: its owner, a reader, and an operator. */
import { randomBytes, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Incident } from '#media/incidents/api.ts';
import { launchChromium, withoutChromium } from '../chromium.fixture.ts';
import { makeImage } from '../media/images.fixture.ts';
import { digestOf, type Lists, openLists } from '../media/lists.fixture.ts';
import { openDesk, type Person } from './desk.fixture.ts';
import { judge } from './judging.fixture.ts';
import { type ConsoleRig, enterAsOperator, enterAsUser, startConsole, visit } from './rig.fixture.ts';
import { shoot } from './shooting.fixture.ts';

const limitMs = 120_000;

describe.skipIf(withoutChromium)('a report', () => {
  let rig: ConsoleRig;
  let browser: Browser;
  let lists: Lists;
  beforeAll(async () => {
    lists = await openLists();
    const kept = { MEDIA_BLOCKED_HASHES: lists.folder, MEDIA_QUARANTINE_KEY: randomBytes(32).toString('base64') };
    [rig, browser] = await Promise.all([startConsole(kept), launchChromium()]);
  }, limitMs);
  afterAll(async () => {
    await browser.close();
    await rig.close();
    await lists.close();
  });

  async function enter(path: string, email = `${randomUUID()}@example.com`): Promise<Page> {
    const visitor = await visit(browser);
    await enterAsUser(visitor, rig, path, email);
    return visitor.page;
  }

  /** The published image of an order. The same prompt makes the same bytes. */
  async function publishOrder(owner: Person, prompt: string): Promise<string> {
    const { body } = await owner.call<{ id: string }>('agent', 'POST', '/images', { prompt, seed: 7 });
    const read = async () =>
      (await owner.call<{ items: { assetId: string | null }[] }>('agent', 'GET', `/generations/${body.id}`)).body;
    await expect.poll(async () => (await read()).items[0]?.assetId, { timeout: 60_000 }).toMatch(/-/);
    const { assetId } = (await read()).items[0] ?? {};
    const copy = { fromAssetId: assetId, toScopeKind: 'feed', toScopeId: 'posts' };
    return (await owner.call<{ assetId: string }>('media', 'POST', '/v1/copy', copy)).body.assetId;
  }

  async function publish(owner: Page): Promise<void> {
    const buffer = await makeImage('png', { width: 300, height: 200 });
    await owner.locator('input[type=file]').setInputFiles({ name: 'boat.png', mimeType: 'image/png', buffer });
    await owner.locator('.tile .open').click();
    await owner.locator('dialog.lightbox').getByRole('button', { name: 'Share', exact: true }).click();
    const sharing = owner.getByRole('dialog', { name: 'Share the image' });
    await sharing.getByRole('button', { name: 'Publish' }).click();
    await sharing.getByRole('button', { name: 'Yes, publish' }).click();
    await sharing.getByRole('button', { name: 'Unpublish' }).waitFor();
  }

  async function decide(operator: Page, button: string, decision: string, statement: string): Promise<void> {
    await operator.getByRole('button', { name: button }).click();
    const dialog = operator.getByRole('dialog', { name: 'Decide about the content' });
    await dialog.getByRole('radio', { name: new RegExp(`^${decision}`) }).check();
    const template = dialog.getByLabel('Template in English');
    // The one that fits the reason of the report is the first.
    expect((await template.getByRole('option').allInnerTexts())[1]).toBe('Intimate without consent');
    const fits = decision === 'Allow' ? 'It may stay' : 'Intimate without consent';
    await expect.poll(() => template.evaluate((field) => Reflect.get(field, 'value'))).toBe(fits);
    expect(await template.getByRole('option').allInnerTexts()).toEqual(
      expect.arrayContaining(['Child safety', 'Illegal content', 'Privacy', 'Another rule']),
    );
    await template.selectOption('Copyright');
    const reasons = dialog.getByLabel('Statement of reasons');
    expect(await reasons.inputValue()).toContain('work of another person');
    await reasons.fill(statement);
    await judge(operator, 'a decision');
    await shoot(operator, 'report-decision');
    await dialog.getByRole('button', { name: 'Save the decision' }).click();
    await dialog.waitFor({ state: 'detached' });
    await operator.getByRole('region', { name: 'Decision' }).getByText(statement).waitFor();
  }

  it('is decided, appealed and answered', { timeout: limitMs }, async () => {
    const owner = await enter('/library');
    await publish(owner);

    const reader = await enter('/explore');
    await reader.getByRole('link', { name: 'Open: A published image' }).click();
    await reader.getByRole('button', { name: 'Report' }).click();
    const reporting = reader.getByRole('dialog', { name: 'Report' });
    // Escape ends the report, not what it is about.
    await reader.keyboard.press('Escape');
    await reporting.waitFor({ state: 'detached' });
    await reader.getByRole('button', { name: 'Report' }).click();
    await reporting.getByLabel('Reason').selectOption('intimate');
    await reporting.getByLabel('Details').fill('This is me, and I did not agree.');
    await judge(reader, 'the form of a report');
    await shoot(reader, 'report-form');
    await reporting.getByRole('button', { name: 'Send the report' }).click();
    await reporting.waitFor({ state: 'detached' });

    const visitor = await visit(browser);
    await enterAsOperator(visitor, rig, '/operator/incidents');
    const { page: operator } = visitor;
    const entry = operator.getByRole('list', { name: 'Incidents' }).getByRole('link').first();
    await expect
      .poll(() => operator.getByRole('list', { name: 'Incidents' }).innerText())
      .toMatch(/urgent[\s\S]*just now[\s\S]*Intimate without consent[\s\S]*1 person/);
    await judge(operator, 'the list of reports');
    await shoot(operator, 'report-list');
    await entry.click();
    await operator.getByText('This is me, and I did not agree.').waitFor();
    await operator.locator('header.page').getByText('urgent').waitFor();
    await operator.getByText('no other incident').waitFor();
    await operator.getByRole('button', { name: 'Show it blurred' }).click();
    await operator.getByAltText('The content, strongly blurred').waitFor();
    await operator.getByRole('button', { name: 'Show it', exact: true }).click();
    const picture = operator.getByAltText('The reported content');
    await expect.poll(() => picture.evaluate((image) => Reflect.get(image, 'naturalWidth'))).toBe(300);
    await judge(operator, 'a report');
    await shoot(operator, 'report-page');
    await decide(operator, 'Decide', 'Restrict', 'The person did not agree.');
    const download = operator.waitForEvent('download');
    await operator.getByRole('button', { name: 'Export for authorities' }).click();
    const exported: unknown = JSON.parse(await readFile(await (await download).path(), 'utf8'));
    expect(exported).toMatchObject({ incident: { reasons: ['intimate'] }, reports: [{ reason: 'intimate' }] });

    await owner.goto(`${rig.url}/account`);
    await owner.getByText('The person did not agree.').waitFor();
    await owner.getByRole('button', { name: 'Appeal' }).click();
    await owner.getByLabel('Why is the decision wrong?').fill('The person agreed in writing.');
    await shoot(owner, 'report-appeal');
    await owner.getByRole('button', { name: 'Send the appeal' }).click();
    await owner.getByText('You appealed. A person reviews it.').waitFor();
    await judge(owner, 'a decision about your content');
    await shoot(owner, 'report-decided');

    await operator.goto(`${rig.url}/operator/incidents`);
    await operator.getByRole('button', { name: /^Appealed/ }).click();
    await expect.poll(() => operator.getByRole('list', { name: 'Incidents' }).innerText()).toContain('restricted');
    await entry.click();
    await operator.getByText('The person agreed in writing.').waitFor();
    await shoot(operator, 'report-appealed');
    await operator.getByText('not answered yet').waitFor();
    await decide(operator, 'Answer the appeal', 'Allow', 'The agreement is valid.');
    await operator.getByText('answered by the decision').waitFor();

    await owner.reload();
    await owner.getByText('The agreement is valid.').waitFor();
    await owner.getByText('This decision answers your appeal.').waitFor();
    await reader.reload();
    await reader.getByRole('button', { name: 'Report' }).waitFor();
    await operator.goto(`${rig.url}/operator/incidents`);
    await operator.getByRole('button', { name: /^Appealed/ }).click();
    await operator.getByText('No incidents here.').waitFor();
    await operator.getByRole('button', { name: /^Allowed/ }).click();
    await entry.click();
    await decide(operator, 'Decide again', 'Remove', 'The person took the agreement back.');
    // Nothing of the content is left on the page but its name, and it can be removed only once.
    await operator.getByText('boat.png').waitFor();
    await operator.getByText('No preview of it is left.').waitFor();
    await operator.getByText('removed', { exact: true }).waitFor();
    await operator.getByText('Removed', { exact: true }).waitFor();
    expect(await operator.getByRole('heading', { name: 'Content', exact: true }).count()).toBe(0);
    await operator.getByRole('button', { name: 'Decide again' }).click();
    const choices = operator.getByRole('dialog').getByRole('radio');
    expect(await choices.evaluateAll((all) => all.map((one) => Reflect.get(one, 'labels')[0].textContent))).toEqual([
      expect.stringMatching(/^Keep removed/),
      expect.stringMatching(/^Lift the removal/),
    ]);
    await judge(operator, 'a decision about removed content');
    await shoot(operator, 'report-removed');
    await operator.keyboard.press('Escape');
    const history = operator.getByRole('region', { name: 'History' }).getByRole('listitem');
    await expect
      .poll(async () => (await history.allInnerTexts()).filter((text) => /Decided|Appealed|Reported/.test(text)))
      .toEqual([
        expect.stringContaining('Reported'),
        expect.stringMatching(/Decided: restricted[\s\S]*by console: The person did not agree\.$/),
        expect.stringContaining('Appealed by the owner'),
        expect.stringMatching(/Decided: allowed[\s\S]*by console: The agreement is valid\.$/),
        expect.stringMatching(/Decided: removed[\s\S]*by console: The person took the agreement back\.$/),
      ]);
    await operator.goto(`${rig.url}/operator/audit?action=decision`);
    // Each decision has its cause, also an earlier one.
    const cause = '1 person reported it: Intimate without consent.';
    for (const [chosen, reason] of [
      ['restricted', 'The person did not agree.'],
      ['allowed', 'The agreement is valid.'],
    ])
      await operator
        .getByText(`The content was ${chosen}. ${cause} A later decision has replaced this one. Reason: ${reason}`)
        .waitFor();
    await operator
      .getByText(
        /^The content was removed\. 1 person reported it: Intimate without consent\. Reason: The person took the agreement back\.$/,
      )
      .waitFor();
    const downloaded = operator.waitForEvent('download');
    await operator.getByRole('button', { name: 'Export as CSV' }).click();
    const [, removed, allowed] = (await readFile(await (await downloaded).path(), 'utf8')).split('\r\n');
    expect(removed).toMatch(
      /"console","Decided an incident","boat\.png","removed","The person took the agreement back\.","done","http:\S+\/operator\/incidents\/[\w-]{36}"/,
    );
    expect(allowed).toContain('"allowed","The agreement is valid."');
  });

  it('is opened by an operator who takes down what is published', { timeout: limitMs }, async () => {
    const email = `${randomUUID()}@example.com`;
    const owner = await enter('/library', email);
    await publish(owner);
    const visitor = await visit(browser);
    await enterAsOperator(visitor, rig, '/operator/content');
    const { page: operator } = visitor;
    const published = operator.getByRole('region', { name: 'Published by users' });
    await published.getByRole('link', { name: email }).first().waitFor();
    await published.getByRole('button', { name: 'Open an incident' }).click();
    await published.getByRole('button', { name: 'Yes, open an incident' }).click();
    await operator.getByRole('heading', { name: 'Opened by an operator' }).waitFor();
    await judge(operator, 'an incident without a report');
    await operator.getByRole('button', { name: 'Decide' }).click();
    const dialog = operator.getByRole('dialog', { name: 'Decide about the content' });
    await dialog.getByRole('radio', { name: /^Remove/ }).check();
    await dialog.getByLabel('Statement of reasons').fill('Advertising is not allowed.');
    await dialog.getByRole('button', { name: 'Save the decision' }).click();
    await dialog.waitFor({ state: 'detached' });
    await owner.goto(`${rig.url}/account`);
    await owner.getByText('Advertising is not allowed.').waitFor();
    await operator.goto(`${rig.url}/operator/content`);
    await published.getByText('No user has published anything yet.').waitFor();
    // The log names the owner, and leads to the incident.
    await operator.goto(`${rig.url}/operator/audit?action=${encodeURIComponent('POST /v1/incidents')}`);
    const actions = operator.getByRole('list', { name: 'Actions' }).getByRole('listitem');
    await actions
      .filter({ hasText: `console decided an incident of ${email}` })
      .first()
      .waitFor();
    await actions
      .getByText('The content was removed. It was not reported. Reason: Advertising is not allowed.')
      .waitFor();
    const opened = actions.filter({ hasText: `console opened an incident of ${email}` });
    expect(await opened.innerText()).not.toContain('asset ');
    await opened.getByRole('link', { name: 'Open the incident' }).click();
    const history = operator.getByRole('region', { name: 'History' }).getByRole('listitem');
    await expect
      .poll(() => history.allInnerTexts())
      .toEqual([
        expect.stringMatching(/^Opened\s[\s\S]*by console$/),
        expect.stringMatching(/^Decided: removed\s[\s\S]*by console: Advertising is not allowed\.$/),
      ]);
    expect(visitor.complaints).toEqual([]);
  });

  it('of one picture are decided together, from the order that made it', { timeout: limitMs }, async () => {
    const desk = await openDesk(rig);
    const [owner, reporter] = [await desk.person(), await desk.person()];
    const order = async (prompt: string, more: object = { seed: 7 }) => {
      const { body } = await owner.call<{ id: string }>('agent', 'POST', '/images', { prompt, ...more });
      const read = () => owner.call<{ items: { assetId: string | null }[] }>('agent', 'GET', `/generations/${body.id}`);
      await expect.poll(async () => (await read()).body.items[0]?.assetId, { timeout: 60_000 }).toMatch(/-/);
      return { id: body.id, assetId: String((await read()).body.items[0]?.assetId) };
    };
    const { id, assetId } = await order('a red bicycle');
    const copy = { fromAssetId: assetId, toScopeKind: 'feed', toScopeId: 'posts' };
    const published = (await owner.call<{ assetId: string }>('media', 'POST', '/v1/copy', copy)).body.assetId;
    const share = (await owner.call<{ id: string }>('media', 'POST', '/v1/shares', { assetId })).body;
    for (const report of [
      { shareId: share.id, reason: 'intimate' },
      { assetId: published, reason: 'copyright' },
    ])
      expect((await reporter.call('media', 'POST', '/v1/reports', report)).status).toBe(201);

    const visitor = await visit(browser);
    await enterAsOperator(visitor, rig, `/operator/runs?kind=generations&id=${id}`);
    const { page } = visitor;
    const record = page.getByRole('region', { name: 'Record' });
    expect(await record.innerText()).toMatch(/Ordered[\s\S]*Started[\s\S]*Ended[\s\S]*seed\s+7/);
    await page.getByRole('link', { name: 'Published in Explore' }).waitFor();
    expect(await page.getByRole('link', { name: 'On a shared page' }).getAttribute('href')).toContain(share.id);
    // There are incidents already.
    expect(await page.getByRole('button', { name: 'Open an incident' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Show the image' }).click();
    await page.getByTitle('Show it larger').click();
    const large = page.getByRole('dialog').getByRole('img', { name: 'the image' });
    await expect.poll(async () => (await large.boundingBox())?.width).toBeGreaterThan(400);
    await judge(page, 'a large picture');
    await shoot(page, 'order-large');
    await page.keyboard.press('Escape');
    await shoot(page, 'order-page');
    // An incident is titled by its content, and a decision about one can include this file.
    const lines = page.getByRole('listitem').filter({ hasText: 'a red bicycle' });
    await lines.filter({ hasText: 'Copyright' }).getByRole('link', { name: owner.email }).waitFor();
    await page.getByText('a decision about one that is open can include this file').waitFor();
    const there = await page.getByRole('link', { name: 'Decide there' }).getAttribute('href');
    expect(there).toMatch(/^\/operator\/incidents\/[\w-]{36}$/);
    await lines.filter({ hasText: 'Intimate' }).getByRole('link', { name: 'a red bicycle' }).click();
    await lines.filter({ hasText: 'Copyright' }).waitFor();
    await judge(page, 'an incident with others of the same picture');
    await shoot(page, 'report-alike');
    await page.goto(`${rig.url}/operator/incidents`);
    const rows = page.getByRole('list', { name: 'Incidents' }).getByRole('listitem');
    const alike = rows.getByText('2 open incidents about this content');
    await expect.poll(() => alike.count()).toBe(2);
    await shoot(page, 'report-list-alike');
    await rows.filter({ hasText: 'Intimate' }).getByRole('link', { name: 'a red bicycle' }).click();
    await page.getByRole('button', { name: 'Decide' }).click();
    const dialog = page.getByRole('dialog', { name: 'Decide about the content' });
    const other = dialog.getByRole('checkbox', { name: /^Copyright Published in Explore/ });
    await dialog.getByRole('radio', { name: /^Restrict/ }).check();
    expect(await other.isChecked()).toBe(false);
    await dialog.getByRole('radio', { name: /^Remove/ }).check();
    expect(await other.isChecked()).toBe(true);
    await other.uncheck();
    await dialog.getByLabel('Statement of reasons').fill('She did not agree.');
    await judge(page, 'a decision about several');
    await shoot(page, 'report-decision-alike');
    await dialog.getByRole('button', { name: 'Save the decision' }).click();
    // What the operator left out is named, and keeps the name of the picture.
    await page.getByText('The same content is stored or reported elsewhere').waitFor();
    await lines.filter({ hasText: 'Copyright' }).getByRole('link', { name: 'a red bicycle' }).click();
    await page.getByText('The owner, or another decision, deleted the content.').waitFor();
    expect(await page.getByRole('button', { name: /^Show it/ }).count()).toBe(0);
    await page.goBack();
    await page.getByRole('button', { name: 'Decide again' }).click();
    await dialog.getByRole('radio', { name: /^Keep removed/ }).check();
    expect(await dialog.getByRole('checkbox', { name: /^Copyright Deleted/ }).isChecked()).toBe(true);
    await dialog.getByLabel('Statement of reasons').fill('She did not agree.');
    await dialog.getByRole('button', { name: 'Save the decision' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await page.getByText('The same content is stored or reported elsewhere').count()).toBe(0);
    const counts = async () => (await desk.send<{ counts: object }>('GET', '/api/incidents')).body.counts;
    expect(await counts()).toMatchObject({ open: 0 });

    // Several images are side by side below the facts, and where they are is shown once.
    const { id: several } = await order('a green bicycle', { n: 2 });
    await page.goto(`${rig.url}/operator/runs?kind=generations&id=${several}`);
    const images = page.getByRole('button', { name: /^Show the image, \d$/ });
    await page.getByText('Ordered without a conversation').waitFor();
    await expect.poll(() => images.count()).toBe(2);
    const [left, right] = await Promise.all((await images.all()).map((one) => one.boundingBox()));
    expect([left?.y, (left?.x ?? 0) < (right?.x ?? 0)]).toEqual([right?.y, true]);
    expect((await record.boundingBox())?.y).toBeLessThan(left?.y ?? 0);
    expect(await page.getByText('Ordered without a conversation').count()).toBe(1);
    await judge(page, 'an order of several images');
    await shoot(page, 'order-several');

    // A file without a report, and its owner.
    const second = await order('a blue bicycle');
    await page.goto(`${rig.url}/operator/runs?kind=generations&id=${second.id}`);
    await page.getByRole('button', { name: 'Open an incident' }).click();
    await page.getByRole('button', { name: 'No', exact: true }).click();
    expect(await counts()).toMatchObject({ open: 0 });
    await page.getByRole('button', { name: 'Open an incident' }).click();
    await page.getByRole('button', { name: 'Yes, open an incident' }).click();
    await page.getByRole('heading', { name: 'Opened by an operator' }).waitFor();
    // The order names it from now on.
    await page.goBack();
    await page.getByText('An incident about this file is open.').waitFor();
    expect(await page.getByRole('button', { name: 'Open an incident' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Decide there' }).click();
    await page.getByRole('heading', { name: 'Opened by an operator' }).waitFor();
    await page.getByRole('region', { name: 'Decision' }).getByRole('button', { name: 'Block …' }).click();
    const blocking = page.getByRole('dialog', { name: /^Block/ });
    await blocking.getByLabel('Reason, for operators only').fill('spam');
    await blocking.getByRole('button', { name: `Block ${owner.email}` }).click();
    await page.getByRole('region', { name: 'Decision' }).getByRole('button', { name: 'Unblock' }).waitFor();
    const incident = page.url();
    expect(await counts()).toMatchObject({ open: 1 });
    await desk.send('POST', `/api/people/${owner.id}/erasure`, { confirm: true });
    expect(await counts()).toMatchObject({ open: 0 });
    await page.goto(incident);
    await page.locator('header.page').getByText('owner erased').waitFor();
    await page.getByText('The erasure of its owner deleted the content.').waitFor();
    expect(await page.getByRole('button', { name: /^(Show|Decide|Block)/ }).count()).toBe(0);
    await judge(page, 'an incident of an erased owner');
  });

  it('of several owners sends each the template in their own language', { timeout: limitMs }, async () => {
    const desk = await openDesk(rig);
    const reporter = await desk.person();
    const incidentOf = new Map<string, string>();
    for (const language of ['de', 'fr']) {
      const [visitor, email] = [await visit(browser), `${language}-${randomUUID()}@example.com`];
      await visitor.context.setExtraHTTPHeaders({ 'accept-language': language });
      await enterAsUser(visitor, rig, '/library', email);
      await visitor.context.close();
      const owner = await desk.person(email);
      const report = { assetId: await publishOrder(owner, 'a green bicycle'), reason: 'copyright' };
      for (const one of language === 'de' ? [reporter, await desk.person()] : [reporter])
        expect((await one.call('media', 'POST', '/v1/reports', report)).status).toBe(201);
      const path = `/api/incidents?ownerId=${owner.id}`;
      const { incidents } = (await desk.send<{ incidents: { id: string }[] }>('GET', path)).body;
      incidentOf.set(email, incidents[0]?.id ?? '');
    }
    const [[german = '', first = ''] = [], [french = '', second = ''] = []] = [...incidentOf];
    const visitor = await visit(browser);
    await enterAsOperator(visitor, rig, '/operator/incidents');
    const { page } = visitor;
    // One entry for the same bytes, the one that most people reported first, and the other below it.
    const group = page.locator('ul[aria-label=Incidents] > li').filter({ hasText: 'a green bicycle' });
    await expect
      .poll(() => group.getByRole('listitem').allInnerTexts())
      .toEqual([
        expect.stringMatching(
          /^a green bicycle\s[\s\S]*open\s+Copyright\s+reported by 1 person\s+fr-[\w-]+@example\.com$/,
        ),
      ]);
    await group.getByText('reported by 2 people').waitFor();
    expect(await group.count()).toBe(1);
    // A long group shows its first lines.
    await page.route('**/api/incidents?status=open*', async (route) => {
      const { incidents, ...rest } = await (await route.fetch()).json();
      const one = incidents.find(({ title }: { title: string }) => title === 'a green bicycle');
      const more = Array.from({ length: 6 }, (_, at) => ({ ...one, id: `alike-${at}` }));
      await route.fulfill({ json: { ...rest, incidents: [...incidents, ...more] } });
    });
    await page.reload();
    await group.getByText('2 more incidents about the same content').waitFor();
    expect(await group.getByRole('listitem').filter({ visible: true }).count()).toBe(5);
    await page.unroute('**/api/incidents?status=open*');
    await page.reload();
    await group.waitFor();
    expect(await group.getByText('open incidents about this content').count()).toBe(0);
    await judge(page, 'a list of incidents with the same content');
    await page.goto(`${rig.url}/operator/incidents/${first}`);
    await page.getByRole('button', { name: 'Decide' }).click();
    const dialog = page.getByRole('dialog', { name: 'Decide about the content' });
    await dialog.getByRole('radio', { name: /^Restrict/ }).check();
    await dialog.getByLabel('Template in German').selectOption('Copyright');
    await dialog
      .getByText(`Emails about the content of ${german} are written in German, the language of this person.`)
      .waitFor();
    // Only of those that the decision includes.
    const others = dialog.getByText(`Emails about the content of ${french} are written in French`);
    expect(await others.count()).toBe(0);
    await dialog.getByText('In English: The content uses a work of another person').waitFor();
    await dialog.getByRole('checkbox', { name: /^Copyright/ }).check();
    await others.waitFor();
    const reasons = dialog.getByLabel('Statement of reasons');
    const template = await reasons.inputValue();
    await reasons.fill(`${template} Bitte fragen Sie vorher.`);
    await dialog.getByText('as you write it. It is not translated.').waitFor();
    expect(await others.count()).toBe(0);
    await reasons.fill(template);
    await others.waitFor();
    await judge(page, 'a decision in several languages');
    await dialog.getByRole('button', { name: 'Save the decision' }).click();
    await dialog.waitFor({ state: 'detached' });
    const statementOf = async (id: string) =>
      (await desk.send<{ decision: { statement: string } }>('GET', `/api/incidents/${id}`)).body.decision.statement;
    expect(await statementOf(first)).toMatch(/^Der Inhalt verwendet ein fremdes Werk/);
    expect(await statementOf(second)).toMatch(/^Le contenu utilise l’œuvre d’une autre personne/);
    // Only its owner sees it.
    await page.getByRole('region', { name: 'Facts' }).getByText('Hidden from Explore').waitFor();
    expect(await page.getByRole('link', { name: 'Published in Explore' }).count()).toBe(0);
    await visitor.context.close();
  });

  it('names the earlier decision about the same content, and a removal is recorded there', {
    timeout: limitMs,
  }, async () => {
    const desk = await openDesk(rig);
    const [first, second] = [await desk.person(), await desk.person()];
    const report = async (assetId: string, reason: string) => {
      const reporter = await desk.person();
      expect((await reporter.call('media', 'POST', '/v1/reports', { assetId, reason })).status).toBe(201);
    };
    const incidentsOf = async ({ id }: Person) =>
      (await desk.send<{ incidents: Incident[] }>('GET', `/api/incidents?ownerId=${id}`)).body.incidents;
    const allowed = await publishOrder(first, 'a yellow bicycle');
    await report(allowed, 'copyright');
    await report(allowed, 'copyright');
    const [{ id = '' } = {}] = await incidentsOf(first);
    const decide = (decision: string, statement: string) =>
      desk.send('POST', `/api/incidents/${id}/decision`, { decision, statement });
    await decide('restrict', 'It looks like a copy.');
    expect((await first.call('media', 'POST', `/v1/incidents/${id}/appeal`, { text: 'It is mine.' })).status).toBe(200);
    await decide('dismiss', 'It is not a copy.');
    await report(await publishOrder(second, 'a yellow bicycle'), 'minor');
    await report(await publishOrder(second, 'a pink bicycle'), 'spam');

    const visitor = await visit(browser);
    const open = (await incidentsOf(second)).find(({ reasons }) => reasons[0] === 'minor');
    await enterAsOperator(visitor, rig, `/operator/incidents/${open?.id}`);
    const { page } = visitor;
    await page.getByRole('button', { name: 'Decide' }).click();
    const dialog = page.getByRole('dialog', { name: 'Decide about the content' });
    const other = dialog.getByRole('checkbox', {
      name: /^Copyright Published in Explore, reported by 2 people, allowed just now, after an appeal/,
    });
    await dialog.getByRole('radio', { name: /^Remove/ }).check();
    expect(await other.isChecked()).toBe(false);
    const reasons = dialog.getByLabel('Statement of reasons');
    await reasons.fill('It shows a child.');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('The decision was not saved.', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => reasons.inputValue()).toBe('It shows a child.');
    expect(await dialog.getByRole('radio', { name: /^Remove/ }).isChecked()).toBe(true);
    // Before the file is gone.
    const download = page.waitForEvent('download');
    await dialog.getByRole('button', { name: 'Export for authorities' }).click();
    const exported = JSON.parse(await readFile(await (await download).path(), 'utf8'));
    expect(exported.owner).toEqual({ id: second.id, email: second.email });
    await other.check();
    await judge(page, 'a decision that overrides another');
    await shoot(page, 'report-decision-overrides');
    await dialog.getByRole('button', { name: 'Save the decision' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Next open incident: Spam' }).waitFor();
    expect(await incidentsOf(first)).toMatchObject([
      { id, decision: { decision: 'remove' }, earlier: [{ decision: 'restrict' }, { decision: 'dismiss' }] },
    ]);
    await page.goto(`${rig.url}/operator/incidents/${id}`);
    await page
      .getByRole('region', { name: 'History' })
      .getByText(/^Decided: removed/)
      .waitFor();
    // Its appeal was answered.
    expect(await page.locator('header.page').getByText('appealed').count()).toBe(0);
    await visitor.context.close();
  });

  it('of a blocked file names the evidence', { timeout: limitMs }, async () => {
    const desk = await openDesk(rig);
    const owner = await desk.person();
    const content = Buffer.from(`prohibited ${randomUUID()}`);
    await lists.write('sha256', digestOf('sha256', content));
    const place = { assetId: randomUUID(), scopeKind: 'library', scopeId: owner.id, kind: 'file', mime: 'text/plain' };
    const { body } = await owner.call<{ uploadUrl: string }>('media', 'POST', '/v1/uploads', place);
    const headers = { 'content-type': 'text/plain' };
    await fetch(body.uploadUrl, { method: 'PUT', body: new Uint8Array(content), headers });
    expect((await owner.call('media', 'POST', '/v1/assets', place)).status).toBe(451);
    const { incidents } = (await desk.send<{ incidents: Incident[] }>('GET', `/api/incidents?ownerId=${owner.id}`))
      .body;
    const visitor = await visit(browser);
    await enterAsOperator(visitor, rig, `/operator/incidents/${incidents[0]?.id}`);
    const { page } = visitor;
    await page.getByText(/^Evidence is stored, encrypted, until \d+ \w+ \d{4}\./).waitFor();
    await page.getByText(`GET /v1/incidents/${incidents[0]?.id}/evidence`).waitFor();
    await page.getByText('No copy of it is stored, except for the encrypted evidence.').waitFor();
    expect(await page.getByRole('region', { name: 'Facts' }).innerText()).toMatch(/Where\s+Blocked\n/);
    await judge(page, 'an incident with evidence');
    await shoot(page, 'report-evidence');
    await visitor.context.close();
  });
});
