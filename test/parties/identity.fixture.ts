/** The identity provider that the program meets: GoTrue where it is built (see `startGoTrue`), otherwise a server with its API. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrations } from '#app/migrations.ts';
import { createIdentityProvider } from '#local/idp/service.ts';
import { systemClock } from '#platform/clock.ts';
import { createLog } from '#platform/log.ts';
import { type Browser, openBrowser, signIn } from '../auth/browser.fixture.ts';
import { skipWithoutGoTrue, startGoTrue } from '../auth/gotrue.fixture.ts';
import { openTestDatabase } from '../database.fixture.ts';
import { freePort } from '../ports.fixture.ts';

interface IdentityProvider {
  /** The settings that name it. */
  readonly env: Readonly<Record<string, string>>;
  /** From `/login` of the program to its `next`. Returns the browser, and where it ends. */
  signIn(
    authUrl: string,
    next: string,
    email: string,
  ): Promise<{ readonly browser: Browser; readonly location: string }>;
  close(): Promise<void>;
}

export const startIdentityProvider = (callback: string): Promise<IdentityProvider> =>
  skipWithoutGoTrue ? startShaped(callback) : startReal(callback);

async function startReal(callback: string): Promise<IdentityProvider> {
  const gotrue = await startGoTrue([callback]);
  return {
    env: { IDP_URL: gotrue.url, ANON_KEY: gotrue.anonKey, SOCIAL_PROVIDER: 'keycloak' },
    async signIn(authUrl, next, email) {
      gotrue.email = email;
      const browser = openBrowser();
      let location = `${authUrl}/login?${new URLSearchParams({ next })}`;
      for (let steps = 0; steps < 10 && !location.startsWith(next); steps++)
        location = (await browser.get(location)).location ?? '';
      return { browser, location };
    },
    close: () => gotrue.close(),
  };
}

async function startShaped(callback: string): Promise<IdentityProvider> {
  const dataDir = await mkdtemp(join(tmpdir(), 'atelier-idp-'));
  const database = await openTestDatabase(migrations);
  const [port, anonKey] = [await freePort(), 'the anon key of the parties'];
  const url = `http://localhost:${port}`;
  const idp = await createIdentityProvider({
    server: { log: createLog({ level: 'silent' }) },
    clock: systemClock,
    settings: { secret: 'the secret of the parties' },
    dataDir,
    database,
    publicUrl: url,
    redirectUrls: [callback],
    anonKey,
  });
  await idp.listen({ port, host: '127.0.0.1' });
  return {
    env: { IDP_URL: url, ANON_KEY: anonKey, SOCIAL_PROVIDER: 'google' },
    async signIn(authUrl, next, email) {
      const browser = openBrowser();
      return { browser, location: (await signIn(browser, authUrl, { query: { next }, email })).location ?? '' };
    },
    async close() {
      await idp.close();
      await database.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
