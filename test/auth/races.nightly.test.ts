/** One refresh per token, whichever process is asked, and no session lost when one of them dies. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import { databaseRefreshResults } from '#auth/refreshresults.ts';
import { openDatabase } from '#platform/db/open.ts';
import { createLog } from '#platform/log.ts';
import { newPlace } from '../acceptance/running.fixture.ts';
import { createPostgresDatabase, databaseEngines, laneEngines } from '../database.fixture.ts';
import { programEnv, programPath } from '../programs.fixture.ts';
import { type Browser, openBrowser, signIn } from './browser.fixture.ts';
import { type AuthRig, anonKey, eventually, origin, startAuth } from './rig.fixture.ts';

const refresh = async (browser: Browser, url: string) => {
  const answer = await openBrowser(browser.cookies).post(`${url}/refresh`, { origin });
  return { status: answer.status, body: JSON.parse(answer.text), session: answer.setCookies[0]?.split(';')[0] };
};

async function signedIn(rig: AuthRig): Promise<Browser> {
  const browser = openBrowser();
  await signIn(browser, rig.url, { email: `u-${randomUUID()}@example.com` });
  await rig.wellAgain();
  return browser;
}

describe.each(laneEngines)('refreshes at once on $name', (engine) => {
  describe.skipIf(engine.missing)('', () => {
    let rig: AuthRig;
    let urls: readonly string[];
    beforeAll(async () => {
      // Without the provider's own patience: a second refresh of one token would end the session.
      rig = await startAuth({
        database: () => engine.open(migrations),
        changes: { refreshResults: databaseRefreshResults },
        reuseIntervalS: 0,
      });
      urls = [rig.url, (await rig.another()).url];
    });
    afterAll(() => rig.close());
    afterEach(() => rig.wellAgain());
    const everywhere = <T>(times: number, work: (url: string) => Promise<T>) =>
      Promise.all(Array.from({ length: times }, (_, at) => work(urls[at % urls.length] ?? rig.url)));

    it('reach the provider once and give all the same token, on two instances', async () => {
      const browser = await signedIn(rig);
      await rig.fault({ operation: 'refresh', kind: 'slow', delayMs: 150 });
      const refreshResults = await everywhere(24, (url) => refresh(browser, url));
      expect(refreshResults.map(({ status }) => status)).toEqual(Array(24).fill(200));
      expect(new Set(refreshResults.map(({ body }) => body.access_token)).size).toBe(1);
      expect((await rig.calls()).refresh).toBe(1);
      // Each has a seal of its own, and each leads on to the same session.
      expect(new Set(refreshResults.map(({ session }) => session)).size).toBeGreaterThan(1);
    });

    it('for many users at the same time are separate', async () => {
      const browsers = [];
      for (let count = 0; count < 8; count++) browsers.push(await signedIn(rig));
      const refreshResults = await Promise.all(
        browsers.flatMap((browser) => urls.flatMap((url) => [refresh(browser, url), refresh(browser, url)])),
      );
      expect(refreshResults.every(({ status }) => status === 200)).toBe(true);
      expect(new Set(refreshResults.map(({ body }) => body.access_token)).size).toBe(8);
      expect((await rig.calls()).refresh).toBe(8);
    });

    it('all get the outage, once, and the session continues', async () => {
      const browser = await signedIn(rig);
      await rig.fault({ operation: 'refresh', kind: 'answer', status: 503, delayMs: 400 });
      const refreshResults = await everywhere(8, (url) => refresh(browser, url));
      expect(new Set(refreshResults.map(({ status }) => status))).toEqual(new Set([503]));
      expect((await rig.calls()).refresh).toBe(1);
      expect((await refresh(browser, rig.url)).status).toBe(200);
    });

    it('of a dead token are rejected, and it stays dead', async () => {
      const browser = await signedIn(rig);
      await openBrowser(browser.cookies).post(`${rig.url}/logout`, { origin });
      const refreshResults = await everywhere(6, (url) => refresh(browser, url));
      expect(new Set(refreshResults.map(({ body }) => body.error))).toEqual(new Set(['refresh_failed']));
    });

    it('with a concurrent sign-out leave no session', async () => {
      for (let round = 0; round < 4; round++) {
        const browser = await signedIn(rig);
        const [signOut] = await Promise.all([
          openBrowser(browser.cookies).post(`${urls[round % 2]}/logout`, { origin }),
          everywhere(6, (url) => refresh(browser, url)),
        ]);
        expect(signOut.status).toBe(200);
        await eventually(async () => (await refresh(browser, rig.url)).status === 401);
      }
    });
  });
});

const postgres = databaseEngines.find(({ name }) => name === 'postgres');
describe.skipIf(postgres?.missing ?? true)('two processes over PostgreSQL', () => {
  let rig: AuthRig;
  let programs: ChildProcess[];
  let urls: string[];
  let places: { remove(): Promise<void> }[];
  let databaseUrl: string;
  let drop: () => Promise<void>;

  const launch = async (at: number, secrets = 'a first secret') => {
    const place = await newPlace();
    places.push(place);
    // Without the launcher in between: a kill has to meet the process itself.
    const env = {
      ...programEnv,
      ...place.env,
      DATABASE_URL: databaseUrl,
      // Allows several processes of each service. This service itself does not use Redis.
      REDIS_URL: 'redis://127.0.0.1:6379',
      IDP_URL: rig.idpUrl,
      ANON_KEY: anonKey,
      COOKIE_SECRETS: secrets,
      ALLOWED_REDIRECT_ORIGINS: origin,
      PUBLIC_BASE_URL: rig.url,
      LOG_LEVEL: 'silent',
    };
    programs[at] = spawn(process.execPath, [programPath, 'start', 'auth'], { env, stdio: 'ignore' });
    const url = `http://localhost:${place.portBase + 3}`;
    urls[at] = url;
    await eventually(() =>
      fetch(`${url}/ready`).then(
        ({ status }) => status === 200,
        () => false,
      ),
    );
  };

  beforeAll(async () => {
    [programs, urls, places] = [[], [], []];
    ({ url: databaseUrl, drop } = await createPostgresDatabase());
    const open = () =>
      openDatabase({ url: databaseUrl, dataDir: '/nowhere', migrations, log: createLog({ level: 'silent' }) });
    rig = await startAuth({ database: open, reuseIntervalS: 0 });
    await Promise.all([launch(0), launch(1)]);
  });
  afterAll(async () => {
    for (const program of programs) program.kill('SIGKILL');
    await rig.close();
    await Promise.all(places.map((place) => place.remove()));
    await drop();
  });
  afterEach(() => rig.wellAgain());

  it('one refresh of many at once reaches the provider', async () => {
    const browser = await signedIn(rig);
    await rig.fault({ operation: 'refresh', kind: 'slow', delayMs: 300 });
    const refreshResults = await Promise.all(
      Array.from({ length: 20 }, (_, at) => refresh(browser, urls[at % 2] ?? '')),
    );
    expect(refreshResults.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(new Set(refreshResults.map(({ body }) => body.access_token)).size).toBe(1);
    expect((await rig.calls()).refresh).toBe(1);
  });

  it('a deploy with a new first secret preserves the session', async () => {
    const browser = await signedIn(rig);
    const [leaving] = programs;
    const ended = once(leaving ?? process, 'exit');
    leaving?.kill('SIGTERM');
    expect((await refresh(browser, urls[1] ?? '')).status).toBe(200);
    expect((await ended)[0]).toBe(0);
    await launch(0, 'a second secret,a first secret');
    expect((await refresh(browser, urls[0] ?? '')).status).toBe(200);
  });

  it('a process that dies during a refresh ends no session', async () => {
    const browser = await signedIn(rig);
    await rig.fault({ operation: 'refresh', kind: 'slow', delayMs: 1000 });
    const lost = refresh(browser, urls[0] ?? '').catch(() => 'lost');
    await eventually(async () => (await rig.calls()).refresh === 1);
    programs[0]?.kill('SIGKILL');
    expect(await lost).toBe('lost');
    // Until its claim expires, no user is signed out.
    await eventually(async () => {
      const { status } = await refresh(browser, urls[1] ?? '');
      expect([200, 503]).toContain(status);
      return status === 200;
    });
  });
});
