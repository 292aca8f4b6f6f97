/** One look at each page of operators, one change on each that has changes, and what operators of each role may do. */
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { digestOf } from '../media/lists.fixture.ts';
import { openDesk } from './desk.fixture.ts';
import { judge } from './judging.fixture.ts';
import { enterAsOperator } from './rig.fixture.ts';
import { atNight, type Scene } from './stage.fixture.ts';

export const readerEmail = 'reader@example.com';
/** In the place of the controls. */
export const readersLine = 'You can look, but not change anything here. Contact an operator with full access.';

/** `readLists` returns the folder of MEDIA_BLOCKED_HASHES. */
export function playOperatorJourneys(scene: Scene, readLists: () => string): void {
  atNight(scene)('every page of operators is accessible', async (given) => {
    const { page, rig, expect } = given;
    await enterAsOperator(given, rig);
    const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
    const titles = await links.allInnerTexts();
    expect(titles.length).toBeGreaterThan(9);
    for (const title of titles) {
      await links.filter({ hasText: title }).click();
      await page.waitForFunction(`document.title === ${JSON.stringify(`${title} · Atelier`)}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.locator('.skeleton, .spinner').first().waitFor({ state: 'detached' });
      await judge(page, title);
    }
  });

  scene('an operator adds credits to a person, and ends the sessions', async (given) => {
    const { page, rig } = given;
    const person = await (await openDesk(rig)).person();
    await enterAsOperator(given, rig, '/operator/people');
    await page.getByRole('searchbox').fill(person.email.slice(0, 20).toUpperCase());
    await page.getByRole('link', { name: person.email }).click();
    await page.getByRole('heading', { name: person.email }).waitFor();
    await judge(page, 'a person');
    await page.getByLabel('Add credits').fill('25');
    await page.getByLabel('Reason').fill('An apology for an outage');
    await page.getByRole('button', { name: 'Save change' }).click();
    const changes = page.getByRole('region', { name: 'Credit ledger' });
    await changes.getByText('An apology for an outage').waitFor();
    await page.getByRole('button', { name: 'End sessions' }).click();
    await page.getByRole('button', { name: 'Yes, end sessions' }).click();
    await page.getByRole('region', { name: 'Audit' }).getByText('Ended the sessions of this person').waitFor();
  });

  atNight(scene)('an operator reads an appeal, and clears the incident', async (given) => {
    const { page, rig, expect } = given;
    const desk = await openDesk(rig);
    const person = await desk.person();
    const content = Buffer.from(`prohibited ${randomUUID()}`);
    await writeFile(join(readLists(), 'sha256.txt'), digestOf('sha256', content));
    const place = { assetId: randomUUID(), scopeKind: 'thread', scopeId: '1', kind: 'file', mime: 'text/plain' };
    const { body } = await person.call<{ uploadUrl: string }>('media', 'POST', '/v1/uploads', place);
    const headers = { 'content-type': 'text/plain' };
    await fetch(body.uploadUrl, { method: 'PUT', body: new Uint8Array(content), headers });
    expect((await person.call('media', 'POST', '/v1/assets', place)).status).toBe(451);
    await person.call('media', 'POST', `/v1/incidents/${place.assetId}/appeal`, { text: 'I wrote this poem.' });
    const countOpen = async () =>
      (await desk.send<{ counts: { open: number } }>('GET', '/api/incidents')).body.counts.open;
    const before = await countOpen();
    await enterAsOperator(given, rig, '/operator/incidents');
    await page.getByRole('list', { name: 'Incidents' }).getByRole('link').first().click();
    await page.getByText('I wrote this poem.').waitFor();
    await judge(page, 'an incident');
    await page.getByRole('button', { name: 'Answer the appeal' }).click();
    await page.getByRole('radio', { name: /^Allow/ }).check();
    await page.getByLabel('Note').fill('A poem.');
    await judge(page, 'a decision');
    await page.getByRole('button', { name: 'Save the decision' }).click();
    await page.getByText('Decided: allowed, just now').waitFor();
    expect(await countOpen()).toBe(before - 1);
  });

  atNight(scene)('an operator cancels a scheduled email', async (given) => {
    const { page, rig, expect } = given;
    const scheduled_at = new Date(Date.now() + 3_600_000).toISOString();
    const from = 'Atelier <a@example.com>';
    const subject = `See you at ${randomUUID()}`;
    const mail = { from, to: 'bob@example.com', subject, text: 'Hi.', scheduled_at };
    expect((await (await openDesk(rig)).internal('notify', 'POST', '/emails', mail)).status).toBe(200);
    await enterAsOperator(given, rig, '/operator/mail');
    await page.getByRole('button', { name: new RegExp(`${subject}.*scheduled`) }).click();
    await page.getByRole('button', { name: 'Cancel this email' }).click();
    await page.getByRole('button', { name: 'Yes, cancel this email' }).click();
    await page.getByRole('button', { name: new RegExp(`${subject}.*canceled`) }).waitFor();
  });

  scene('settings show no secrets', async (given) => {
    const { page, rig, expect } = given;
    await enterAsOperator(given, rig, '/operator/settings');
    await page.getByLabel('Find settings').fill('CONSOLE_TOKEN');
    await page.getByText('CONSOLE_TOKEN').waitFor();
    expect(await page.textContent('main')).not.toContain(await rig.secret('CONSOLE_TOKEN'));
    await page.getByRole('button', { name: 'Check everything' }).click();
    await page.getByText(/^Checked /).waitFor();
    expect(await page.textContent('main')).not.toContain(await rig.secret('INTERNAL_KEY'));
  });

  scene('an operator with the reader role can view but change nothing', async (given) => {
    const { page, rig, expect } = given;
    const person = await (await openDesk(rig)).person();
    await page.goto(`${rig.url}/operator/people?plan=free`);
    await page.getByRole('button', { name: 'Continue with your account' }).click();
    await page.getByPlaceholder('you@example.com').fill(readerEmail);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'People' }).waitFor();
    expect(page.url()).toBe(`${rig.url}/operator/people?plan=free`);
    await page.getByRole('button', { name: `Read only: ${readerEmail}` }).waitFor();
    await page.goto(`${rig.url}/operator/people/${person.id}`);
    await page.getByRole('heading', { name: 'Account' }).waitFor();
    for (const name of ['Save change', 'End sessions', 'Block …', 'Export everything', 'Erase everything'])
      expect([name, await page.getByRole('button', { name }).count()]).toEqual([name, 0]);
    await page.getByRole('region', { name: 'Account' }).getByText(readersLine).waitFor();
    await judge(page, 'a person for a reader');
  });
}

/** Needs PostgreSQL, because the embedded database cannot be reached from outside. */
export function playJobs(scene: Scene): void {
  scene('an operator retries a dead job and discards another, and sees no secret of them', async (given) => {
    const { page, rig, expect } = given;
    const client = new pg.Client({ connectionString: rig.databaseUrl });
    await client.connect();
    try {
      await client.query("delete from jobs where queue = 'memory/judge'");
      await client.query(`insert into jobs (queue, payload, status, attempt, fence, reason, settled, created_at, finished_at)
        select 'memory/judge', json_build_object('entity', json_build_object('type', 'user', 'id', n), 'apiToken', 'hush'), 'dead', 10, 10,
          'the model answered 500', false, now() - interval '3 hours', now() - n * interval '1 hour' from generate_series(1, 2) n`);
      await enterAsOperator(given, rig, '/operator/jobs?queue=memory/judge');
      const jobs = page.getByRole('list', { name: 'Jobs of memory/judge' });
      await jobs.getByText('Payload').first().click();
      expect(await jobs.innerText()).not.toContain('hush');
      await judge(page, 'dead jobs');
      const retry = jobs.getByRole('button', { name: /^Retry job/ });
      await retry.first().click();
      await page.getByText('The job restarts.').first().waitFor();
      await expect.poll(() => retry.count()).toBe(1);
      await jobs.getByRole('button', { name: 'Discard' }).click();
      await page.getByRole('button', { name: 'Yes, discard' }).click();
      await page.getByText('No job is dead.').waitFor();
    } finally {
      await client.end();
    }
  });
}
