/** Operators who sign in with an account that a claim of their access token names. */
import { randomUUID } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchChromium, withoutChromium } from '../chromium.fixture.ts';
import { type Desk, openDesk } from './desk.fixture.ts';
import { judge } from './judging.fixture.ts';
import { type ConsoleRig, startConsole, useVisitors } from './rig.fixture.ts';

const limitMs = 300_000;
const changes = ['Save change', 'End sessions', 'Export everything', 'Erase everything'];

describe.skipIf(withoutChromium)('operators by claim', () => {
  let rig: ConsoleRig;
  let desk: Desk;
  let browser: Browser;
  const full = `full-${randomUUID()}@example.com`;
  const reader = `reader-${randomUUID()}@example.com`;

  beforeAll(async () => {
    // The stand-in gives all accounts the same app_metadata, so the claim is one that differs.
    const claims = { OPERATOR_CLAIM: `email=${full}`, OPERATOR_READER_CLAIM: `email=${reader}` };
    [rig, browser] = await Promise.all([startConsole(claims, ['idp', 'auth', 'console']), launchChromium()]);
    desk = await openDesk(rig);
  }, limitMs);
  afterAll(async () => {
    await browser.close();
    await rig.close();
  });

  const visit = useVisitors(() => browser);
  async function signIn(page: Page, email: string): Promise<void> {
    const signInButton = page.getByRole('button', { name: 'Continue with your account' });
    await page.goto(`${rig.url}/operator`);
    await signInButton.click();
    await page.getByPlaceholder('you@example.com').fill(email);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${rig.url}/operator`);
  }

  it('allow changes with the full role, and the audit log names the operator', { timeout: limitMs }, async () => {
    const person = await desk.person();
    const { page, complaints } = await visit();
    await signIn(page, full);
    await page.getByRole('heading', { name: 'Services' }).waitFor();
    await page.getByRole('button', { name: `Operator ${full}`, exact: true }).waitFor();
    await page.goto(`${rig.url}/operator/people/${person.id}`);
    await page.getByLabel('Add credits').fill('25');
    await page.getByLabel('Reason').fill('An apology');
    await page.getByRole('button', { name: 'Save change' }).click();
    await page.getByRole('region', { name: 'Credit ledger' }).getByText('An apology').waitFor();
    await page.goto(`${rig.url}/operator/audit`);
    const entry = page.getByRole('listitem').filter({ hasText: full });
    await entry.getByText('changed the plan or credits of').waitFor();
    expect(complaints).toEqual([]);
  });

  it('show a person without buttons for changes to readers', { timeout: limitMs }, async () => {
    const person = await desk.person();
    const { page, complaints } = await visit();
    await signIn(page, reader);
    await page.getByRole('button', { name: `Read only: ${reader}` }).waitFor();
    await page.goto(`${rig.url}/operator/people/${person.id}`);
    await page.getByRole('heading', { name: 'Account' }).waitFor();
    for (const name of changes) expect([name, await page.getByRole('button', { name }).count()]).toEqual([name, 0]);
    expect(complaints).toEqual([]);
  });

  it('do not include other accounts, and the page says which settings name operators', {
    timeout: limitMs,
  }, async () => {
    const { page, complaints } = await visit();
    await signIn(page, `stranger-${randomUUID()}@example.com`);
    await page
      .getByText('This account is not an operator. Operators are configured in OPERATOR_EMAILS or OPERATOR_CLAIM.')
      .waitFor();
    await judge(page, 'the refusal of an account');
    expect(complaints.splice(0)).toEqual([expect.stringContaining('403')]);
  });
});
