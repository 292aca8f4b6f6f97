import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from '../acceptance/running.fixture.ts';
import { longest } from './longestfirst.ts';

it('names files that exist', () => {
  expect(longest.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});
