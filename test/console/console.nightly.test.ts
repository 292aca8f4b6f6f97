/** The console's pages in a real browser on a running suite: what the journeys of `console.test.ts` leave out. */
import { describe } from 'vitest';
import { withoutChromium } from '../chromium.fixture.ts';
import { playCreating } from './creating.fixture.ts';
import { playKeyboard } from './keyboard.fixture.ts';
import { playMemory } from './memory.fixture.ts';
import { playOverview } from './overview.fixture.ts';
import { playReadingPages } from './readingpages.fixture.ts';
import { openStage } from './stage.fixture.ts';
import { playCuts, playStudio } from './studio.fixture.ts';

describe.skipIf(withoutChromium)('the console', () => {
  const scene = openStage();
  describe('Studio', () => {
    playStudio(scene);
    playCuts(scene);
  });
  describe('creators', () => playCreating(scene));
  describe('Memory', () => playMemory(scene));
  describe('the pages that only show', () => playReadingPages(scene));
  describe('with the keyboard only', () => playKeyboard(scene));
  describe('Overview', () => playOverview(scene));
});
