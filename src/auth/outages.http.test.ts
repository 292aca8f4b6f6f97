/** While the database is down, no user is signed out, and users can sign in and out (docs/specification/http.md#failing-engines). */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import type { Database } from '#platform/db/db.ts';
import { consent, openBrowser, signIn } from '../../test/auth/browser.fixture.ts';
import { type AuthRig, origin, startAuth } from '../../test/auth/rig.fixture.ts';
import { openTestDatabase } from '../../test/database.fixture.ts';
import { databaseRefreshResults } from './refreshresults.ts';

let rig: AuthRig;
let own: Database;
beforeAll(async () => {
  // A separate database, because the provider's must stay up.
  own = await openTestDatabase(migrations);
  rig = await startAuth({ changes: { database: own, refreshResults: databaseRefreshResults } });
});
afterAll(() => rig.close());

it('refresh, sign-in and sign-out work without it', async () => {
  const [early, late] = [openBrowser(), openBrowser()];
  await signIn(early, rig.url);
  const claimed = await rig.another({
    refreshResults: (database) => ({ ...databaseRefreshResults(database), claim: async () => false }),
  });
  await own.close();
  // The database fails after another process has claimed the refresh.
  expect((await early.post(`${claimed.url}/refresh`, { origin })).status).toBe(200);
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
