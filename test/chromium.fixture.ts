/** Chromium for tests. */
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { skipWithout } from './programs.fixture.ts';

const whole = '/usr/bin/chromium';
// Needs a third of the processor time, because it has no windows, which the whole browser opens for each context.
const shell = '/usr/bin/chromium-headless-shell';
const executablePath = process.env.CHROMIUM_PATH || (existsSync(shell) ? shell : whole);

/** Pass this to `describe.skipIf`. */
export const withoutChromium = skipWithout(executablePath);

const quiet = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // A test that reads an offset after it scrolls must not read one on the way.
  '--disable-smooth-scrolling',
];

export const launchChromium = (...more: readonly string[]): Promise<Browser> =>
  chromium.launch({ executablePath, args: [...quiet, ...more] });
