/** The console's pages in a real browser on a running suite: each page's main path, and what holds for all of them. */
import { describe } from 'vitest';
import { playAccess } from './access.ts';
import { playKeyboard } from './keyboard.ts';
import { playLibrary } from './library.ts';
import { playMemory } from './memory.ts';
import { playOverview } from './overview.ts';
import { playReadingPages } from './readingpages.ts';
import { withoutChromium } from './rig.ts';
import { openStage } from './stage.ts';
import { playCuts, playStudio } from './studio.ts';

describe.skipIf(withoutChromium)('the console', () => {
  const scene = openStage();
  // Those that wait for an answer wait together.
  describe.concurrent('all at once', () => {
    describe('Studio', () => playStudio(scene));
    describe('Library', () => playLibrary(scene));
    describe('Memory', () => playMemory(scene));
    describe('the pages that only show', () => playReadingPages(scene));
    describe('with nothing but keys', () => playKeyboard(scene));
    describe('access', () => playAccess(scene));
  });
  describe('one after the other, as they take something away', () => {
    describe('Overview', () => playOverview(scene));
    describe('Studio', () => playCuts(scene));
  });
});
