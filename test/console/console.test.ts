/**
 * The console's pages in a real browser on a running suite: sign-in, roles, and one journey through each area. The files
 * named `*.nightly.test.ts` play everything else.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe } from 'vitest';
import { withoutChromium } from '../chromium.fixture.ts';
import { laneEngines } from '../database.fixture.ts';
import { playAccess } from './access.fixture.ts';
import { playPhone } from './creating.fixture.ts';
import { playJourneys } from './journeys.fixture.ts';
import { playJobs, playOperatorJourneys, readerEmail } from './operatorjourneys.fixture.ts';
import { playOutbox } from './readingpages.fixture.ts';
import { openStage } from './stage.fixture.ts';

const isEmbedded = laneEngines[0]?.name !== 'postgres';

describe.skipIf(withoutChromium)('the console', () => {
  let lists: string;
  const scene = openStage(async () => {
    lists = await mkdtemp(join(tmpdir(), 'lists-'));
    return { MEDIA_BLOCKED_HASHES: lists, OPERATOR_READER_EMAILS: readerEmail };
  });
  afterAll(() => rm(lists, { recursive: true, force: true }));
  describe('access', () => playAccess(scene));
  describe('Mail', () => playOutbox(scene));
  describe('users', () => playJourneys(scene));
  describe('phones', () => playPhone(scene));
  describe('operators', () => playOperatorJourneys(scene, () => lists));
  describe.skipIf(isEmbedded)('jobs', () => playJobs(scene));
});
