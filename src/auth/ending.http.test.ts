/** Sessions that an operator ends (docs/specification/records.md#people). */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAccess } from '#platform/access/access.ts';
import type { JobTables } from '#platform/jobs/jobs.ts';
import { createLog } from '#platform/log.ts';
import { openBrowser, signIn } from '../../test/auth/browser.fixture.ts';
import { type AuthRig, origin, startAuth } from '../../test/auth/rig.fixture.ts';
import { revocationQueue } from './revocations.ts';

const key = 'the internal key of the tests';
const log = createLog({ level: 'silent' });

let rig: AuthRig;
beforeAll(async () => {
  rig = await startAuth({
    changes: { people: { access: createAccess({ internalKeys: [key], log }), droppedJobs: sql<boolean>`false` } },
  });
});
afterAll(() => rig.close());

type Browser = ReturnType<typeof openBrowser>;
const refresh = async (browser: Browser) => {
  const { status, text } = await browser.post(`${rig.url}/refresh`, { origin });
  return { status, body: JSON.parse(text) as { error?: string; access_token?: string } };
};
const idOf = (token = '') => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).sub as string;
const endSessions = (userId: string) =>
  fetch(`${rig.url}/v1/people/${userId}/sessions`, { method: 'DELETE', headers: { 'x-internal-key': key } });

async function enter(email = `u-${randomUUID()}@example.com`) {
  const browser = openBrowser();
  await signIn(browser, rig.url, { email });
  const userId = idOf((await refresh(browser)).body.access_token);
  return { browser, userId, email };
}

it('are refused from the next refresh on, in every browser, and revoked at the provider', async () => {
  const { browser, userId, email } = await enter();
  const { browser: second } = await enter(email);
  const other = await enter();
  expect((await endSessions(userId)).status).toBe(204);
  for (const one of [browser, second]) {
    const { status, body } = await refresh(one);
    expect([status, body.error]).toEqual([401, 'refresh_failed']);
  }
  await expect.poll(async () => (await rig.calls()).logout).toBeGreaterThanOrEqual(2);
  expect((await refresh(other.browser)).status).toBe(200);
});

it('are revoked at the provider once, however often their cookie is sent', async () => {
  const { browser, userId } = await enter();
  const sealed = browser.cookies.get('ka_session') ?? '';
  await endSessions(userId);
  const countJobs = async () => {
    const jobs = await rig.database.queries<JobTables>().selectFrom('jobs').select('queue').execute();
    return jobs.filter(({ queue }) => queue === revocationQueue.name).length;
  };
  const before = await countJobs();
  for (let times = 0; times < 5; times++) {
    browser.cookies.set('ka_session', sealed);
    expect((await refresh(browser)).status).toBe(401);
  }
  expect((await countJobs()) - before).toBe(1);
});

it('do not end a session that starts later', async () => {
  const { userId, email } = await enter();
  await endSessions(userId);
  const { browser } = await enter(email);
  expect((await refresh(browser)).status).toBe(200);
});

it('can be ended by operators only', async () => {
  const { userId } = await enter();
  const url = `${rig.url}/v1/people/${userId}/sessions`;
  expect((await fetch(url, { method: 'DELETE' })).status).toBe(401);
  expect(
    (await fetch(`${rig.url}/v1/people/somebody/sessions`, { method: 'DELETE', headers: { 'x-internal-key': key } }))
      .status,
  ).toBe(400);
});

it('are refused although a process whose clock is ahead sealed them', async () => {
  const ahead = await rig.another({ clock: { now: () => Date.now() + 60_000 } });
  const { browser, userId } = await enter();
  // The process that is ahead seals the session again.
  expect((await browser.post(`${ahead.url}/refresh`, { origin })).status).toBe(200);
  expect((await endSessions(userId)).status).toBe(204);
  expect((await refresh(browser)).status).toBe(401);
});
