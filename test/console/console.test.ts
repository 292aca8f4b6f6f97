/** The console's pages in a real browser on a running suite: each page's main path, and what holds for all of them. */
import { describe } from 'vitest';
import { isNightly } from '../lane.fixture.ts';
import { playAccess } from './access.fixture.ts';
import { playKeyboard } from './keyboard.fixture.ts';
import { playMemory } from './memory.fixture.ts';
import { playOverview } from './overview.fixture.ts';
import { playReadingPages } from './readingpages.fixture.ts';
import { withoutChromium } from './rig.fixture.ts';
import { openStage } from './stage.fixture.ts';
import { playCuts, playStudio } from './studio.fixture.ts';

describe.skipIf(withoutChromium)('the console', () => {
  const scene = openStage();
  // Those that wait for an answer wait together.
  describe.concurrent('all at once', () => {
    describe('Studio', () => playStudio(scene));
    describe('Memory', () => playMemory(scene));
    describe('the pages that only show', () => playReadingPages(scene));
    describe.runIf(isNightly)('with nothing but keys', () => playKeyboard(scene));
    describe('access', () => playAccess(scene));
  });
  describe('one after the other, as they take something away', () => {
    describe('Overview', () => playOverview(scene));
    describe('Studio', () => playCuts(scene));
  });
});
