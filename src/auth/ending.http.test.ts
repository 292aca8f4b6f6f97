/** Sessions that an operator ends, and accounts that one blocks (docs/specification/records.md#people). */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

describe('a blocked account', () => {
  const urlOf = (userId: string) => `${rig.url}/v1/people/${userId}/block`;
  const headers = { 'x-internal-key': key };
  const block = (userId: string, actor = 'chief@example.com') =>
    fetch(urlOf(userId), {
      method: 'POST',
      headers: { ...headers, 'x-operator': actor, 'content-type': 'application/json' },
      body: JSON.stringify({ reason: 'Spam.' }),
    });
  const unblock = (userId: string) => fetch(urlOf(userId), { method: 'DELETE', headers });

  it('is refused in every browser and process, at a refresh and a sign-in', async () => {
    const { browser, userId, email } = await enter();
    const { browser: second } = await enter(email);
    const other = await enter();
    const another = await rig.another({});
    expect((await block(userId)).status).toBe(200);
    const refused = { status: 403, body: { error: 'account_blocked' } };
    expect(await refresh(browser)).toMatchObject(refused);
    const answer = await second.post(`${another.url}/refresh`, { origin });
    expect([answer.status, second.cookies.has('ka_session')]).toEqual([403, false]);
    const returning = openBrowser();
    const { location } = await signIn(returning, rig.url, { email });
    expect([location, [...returning.cookies.keys()]]).toEqual([
      `${origin}/?auth_error=1&auth_reason=account_blocked`,
      [],
    ]);
    await expect.poll(async () => (await rig.calls()).logout).toBeGreaterThanOrEqual(3);
    expect((await refresh(other.browser)).status).toBe(200);
  });

  it('that is unblocked signs in again, and its earlier sessions stay ended', async () => {
    const { browser, userId, email } = await enter();
    const sealed = browser.cookies.get('ka_session') ?? '';
    await block(userId);
    expect((await unblock(userId)).status).toBe(200);
    browser.cookies.set('ka_session', sealed);
    expect(await refresh(browser)).toMatchObject({ status: 401, body: { error: 'refresh_failed' } });
    const { browser: again } = await enter(email);
    expect((await refresh(again)).status).toBe(200);
  });

  it('stays blocked if it is deleted and signs up again, until an operator unblocks it', async () => {
    const { browser, userId, email } = await enter();
    const sealed = browser.cookies.get('ka_session') ?? '';
    await block(userId);
    const remove = () => sql`delete from user_profiles where id = ${userId}`.execute(rig.database.queries());
    await remove();
    const returning = openBrowser();
    const { location } = await signIn(returning, rig.url, { email: email.toUpperCase() });
    expect([location, [...returning.cookies.keys()]]).toEqual([
      `${origin}/?auth_error=1&auth_reason=account_blocked`,
      [],
    ]);
    const { rows } = await sql`select address_digest from blocked_addresses`.execute(rig.database.queries());
    expect(JSON.stringify(rows)).not.toContain(email);
    const onboarded = await sql`select 1 from onboardings join user_profiles on id = user_id
      where user_id = ${userId} and onboardings.created_at >= user_profiles.created_at`.execute(rig.database.queries());
    expect(onboarded.rows).toEqual([]);
    expect((await unblock(userId)).status).toBe(200);
    browser.cookies.set('ka_session', sealed);
    expect((await refresh(browser)).status).toBe(401);
    await remove();
    const { browser: again } = await enter(email);
    expect((await refresh(again)).status).toBe(200);
  });

  it('stays blocked if two operators block it, and the first reason counts', async () => {
    const { userId } = await enter();
    expect((await Promise.all([block(userId), block(userId)])).map(({ status }) => status)).toEqual([200, 200]);
    const { rows } = await sql`select reason from account_blocks where user_id = ${userId}`.execute(
      rig.database.queries(),
    );
    expect(rows).toEqual([{ reason: 'Spam.' }]);
  });

  it('is not the own account of an operator, and one that exists', async () => {
    const { browser, userId, email } = await enter();
    const own = await block(userId, email.toUpperCase());
    expect([own.status, await own.json()]).toEqual([409, expect.objectContaining({ error: 'own_account' })]);
    // As the console names an operator with this address.
    await sql`update user_profiles set email = 'Chief+Desk@example.com' where id = ${userId}`.execute(
      rig.database.queries(),
    );
    expect((await block(userId, 'chief_desk@example.com')).status).toBe(409);
    expect((await refresh(browser)).status).toBe(200);
    for (const change of [block, unblock]) expect((await change(randomUUID())).status).toBe(404);
  });
});
