/** The size of the product only falls. A change that needs more than a limit raises it, and its commit gives the reason. */
import { expect, it } from 'vitest';
import { measureSize } from '../../tools/size.ts';

const { files, lines, depsTypes, tablesTypes } = measureSize();

it.each([
  ['files', files, 765],
  ['lines that are not blank', lines, 92_336],
  ['types that select what a function uses (`*Deps`)', depsTypes.length, 13],
  ['types that list tables (`*Tables`)', tablesTypes.length, 14],
])('src has few %s', (_, measured, most) => {
  expect(measured).toBeGreaterThan(10);
  expect(measured).toBeLessThanOrEqual(most);
});
