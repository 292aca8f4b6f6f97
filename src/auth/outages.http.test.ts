/** The database is away: nobody is signed out by that, and everybody can sign in and out (docs/specification/http.md#failing-engines). */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import type { Database } from '#platform/db/db.ts';
import { consent, openBrowser, signIn } from '../../test/auth/browser.fixture.ts';
import { type AuthRig, origin, startAuth } from '../../test/auth/rig.fixture.ts';
import { openTestDatabase } from '../../test/database.fixture.ts';
import { databaseAnswers } from './answers.ts';

let rig: AuthRig;
let own: Database;
beforeAll(async () => {
  // Not the provider's, which goes on.
  own = await openTestDatabase(migrations);
  rig = await startAuth({ changes: { database: own, answers: databaseAnswers } });
});
afterAll(() => rig.close());

it('refresh, sign-in and sign-out go on without it', async () => {
  const [early, late] = [openBrowser(), openBrowser()];
  await signIn(early, rig.url);
  await own.close();
  for (let count = 0; count < 3; count++) expect((await early.post(`${rig.url}/refresh`, { origin })).status).toBe(200);
  const back = await consent((await late.get(`${rig.url}/login?next=${origin}/x`)).location ?? '');
  expect((await late.get(back)).location).toBe(`${origin}/x`);
  const both = await Promise.all([1, 2].map(() => openBrowser(late.cookies).post(`${rig.url}/refresh`, { origin })));
  expect(both.map(({ status }) => status)).toEqual([200, 200]);
  const gone = await late.post(`${rig.url}/logout`, { origin });
  expect([gone.status, late.cookies.has('ka_session')]).toEqual([200, false]);
  expect((await early.post(`${rig.url}/refresh`, { origin })).status).toBe(401);
  expect((await fetch(`${rig.url}/health`)).status).toBe(200);
});
