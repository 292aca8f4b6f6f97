/** The suite with its console, in this process, and a real browser before it. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterEach } from 'vitest';
import { readConfig, type ServiceName, serviceNames } from '#app/config.ts';
import { startSuite } from '#app/suite.ts';
import { createLog } from '#platform/log.ts';
import { createProgramDatabase } from '../database.fixture.ts';
import { freePortBase } from '../ports.fixture.ts';

export interface ConsoleRig {
  /** Of the console. */
  readonly url: string;
  readonly addresses: Readonly<Partial<Record<ServiceName, string>>>;
  readonly dataDir: string;
  /** The name of the database's engine on the Overview. */
  readonly engine: 'PGlite' | 'PostgreSQL';
  /** `DATABASE_URL`, or `embedded`. */
  readonly databaseUrl: string;
  /** A secret of secrets.json. */
  secret(name: string): Promise<string>;
  close(): Promise<void>;
}

export async function startConsole(
  environment: Readonly<Record<string, string>> = {},
  services: readonly ServiceName[] = serviceNames,
): Promise<ConsoleRig> {
  const dataDir = await mkdtemp(join(tmpdir(), 'console-'));
  const portBase = String(await freePortBase());
  const database = environment.DATABASE_URL === undefined ? await createProgramDatabase() : undefined;
  const defaults = { ATELIER_DATA_DIR: dataDir, ATELIER_PORT_BASE: portBase, LOG_LEVEL: 'silent' };
  const config = readConfig({ ...defaults, DATABASE_URL: database?.url, ...environment }, services);
  const suite = await startSuite(config, services, createLog({ level: 'silent' }));
  return {
    url: `http://localhost:${portBase}`,
    addresses: suite.addresses,
    dataDir,
    engine: config.database.url === 'embedded' ? 'PGlite' : 'PostgreSQL',
    databaseUrl: config.database.url,
    secret: async (name) => JSON.parse(await readFile(join(dataDir, 'secrets.json'), 'utf8'))[name],
    close: async () => {
      await suite.close();
      await database?.drop();
      await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

export interface Visitor {
  readonly context: BrowserContext;
  readonly page: Page;
  /** What the browser complained about, and whom it asked that is not ours. Has to stay empty. */
  readonly complaints: string[];
}

const desktop = { width: 1440, height: 900 };

/** A browser of its own, watched. */
export async function visit(browser: Browser): Promise<Visitor> {
  const context = await browser.newContext({ locale: 'en-GB', viewport: desktop, reducedMotion: 'reduce' });
  context.setDefaultTimeout(30_000);
  const complaints: string[] = [];
  context.on('page', (page) => watch(page, complaints));
  const page = await context.newPage();
  return { context, page, complaints };
}

export interface Visitors {
  enter(): Promise<Visitor>;
  leave(visitor: Visitor): Promise<void>;
}

/** Visitors that leave their browser to the next one, without cookies and storage, but with a warm cache. */
export function createVisitors(browser: () => Browser): Visitors {
  const free: Visitor[] = [];
  return {
    enter: async () => free.pop() ?? visit(browser()),
    async leave(visitor) {
      const isClean = await clear(visitor).catch(() => false);
      if (isClean) free.push(visitor);
      else await visitor.context.close();
    },
  };
}

/** Returns `false` if the storage cannot be reached. */
async function clear({ context, page, complaints }: Visitor): Promise<boolean> {
  const [, ...others] = context.pages();
  await Promise.all([context.setOffline(false), context.clearCookies(), ...others.map((other) => other.close())]);
  await page.unrouteAll();
  await page.emulateMedia({ colorScheme: null });
  await page.setViewportSize(desktop);
  await page.evaluate('localStorage.clear(), sessionStorage.clear()');
  await page.goto('about:blank');
  complaints.length = 0;
  return context.pages()[0] === page;
}

/** For files whose tests run one after the other. A test that fails leaves nothing behind. */
export function useVisitors(browser: () => Browser): () => Promise<Visitor> {
  const visitors = createVisitors(browser);
  const present: Visitor[] = [];
  afterEach(async ({ task }) => {
    const hasFailed = task.result?.state === 'fail';
    const gone = present.splice(0);
    await Promise.all(gone.map((visitor) => (hasFailed ? visitor.context.close() : visitors.leave(visitor))));
  });
  return async () => {
    const visitor = await visitors.enter();
    present.push(visitor);
    return visitor;
  };
}

function watch(page: Page, complaints: string[]): void {
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return;
    // Browsers request it with files that are not pages.
    if (message.location().url.endsWith('/favicon.ico')) return;
    if (!/status of 503/.test(message.text())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  // What the policy of a page holds back never leaves the browser.
  page.on('requestfailed', (request) => {
    if (request.failure()?.errorText !== 'csp') sendUrl(request.url());
  });
  page.on('response', (response) => {
    sendUrl(response.url());
    // On a machine that is too busy a service may ask for another try, which the pages make.
    const asksAgain = response.headers()['retry-after'] !== undefined;
    if (response.status() === 503 && !asksAgain) complaints.push(`503 of ${response.url()}`);
  });
  const sendUrl = (url: string) => {
    const { protocol, hostname } = new URL(url);
    if (protocol.startsWith('http') && hostname !== 'localhost') complaints.push(`asked ${url}`);
  };
}

/** Through the printed link. */
export async function followPrintedLink({ page }: Visitor, rig: ConsoleRig): Promise<void> {
  await page.goto(`${rig.url}/#token=${await rig.secret('CONSOLE_TOKEN')}`);
  await page.getByRole('heading', { name: 'Services' }).waitFor();
}

/** Opens a page with the session of an operator. */
export async function enterAsOperator({ page, context }: Visitor, rig: ConsoleRig, path = '/operator'): Promise<void> {
  const data = { token: await rig.secret('CONSOLE_TOKEN') };
  const answer = await context.request.post(`${rig.url}/api/session`, { data, headers: { origin: rig.url } });
  if (!answer.ok()) throw new Error(`The session was refused: ${answer.status()}`);
  await page.goto(rig.url + path);
  if (path === '/operator') await page.getByRole('heading', { name: 'Services' }).waitFor();
}

/** Signs in through the identity provider, as in any application, as a new user. */
export async function signIn(
  { page }: Pick<Visitor, 'page'>,
  url: string,
  email = `${randomUUID()}@example.com`,
): Promise<void> {
  await page.goto(url);
  await page
    .getByRole('link', { name: /^Sign in/ })
    .first()
    .click();
  await page.getByPlaceholder('you@example.com').fill(email);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: /^Account/ }).waitFor();
}

/** Opens a page with the session of a user, a new one unless `email` is given. The sign-in takes place without its pages. */
export async function enterAsUser(
  { page, context }: Pick<Visitor, 'page' | 'context'>,
  { url, addresses }: Pick<ConsoleRig, 'url' | 'addresses'>,
  path: string,
  email = `${randomUUID()}@example.com`,
): Promise<void> {
  // A URL of the console that loads no application.
  const icon = `${url}/favicon.svg`;
  const asked = await context.request.get(`${addresses.auth}/login?${new URLSearchParams({ next: icon })}`);
  const consent = new URL(asked.url());
  const form = { flow: consent.searchParams.get('flow') ?? '', email };
  const signedIn = await context.request.post(consent.origin + consent.pathname, { form });
  if (signedIn.url() !== icon) throw new Error(`The sign-in ended at ${signedIn.url()}`);
  await page.goto(url + path);
  await page.getByRole('button', { name: /^Account/ }).waitFor();
}

/** Chooses an entry of the menu of the account. */
export async function chooseOption(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: /^(Account|Operator)|^Options$/ }).click();
  await page.getByRole('menuitem', { name }).click();
}
