import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { extractPdfText } from './pdftext.ts';

const report = readFileSync(join(import.meta.dirname, '../../../test/agent/fixtures/report.pdf'));

it('owners take turns, regardless of the number of documents that one of them has waiting', async () => {
  const order: string[] = [];
  // Another length each time, because texts are cached by it.
  let maxCharacters = 100_000;
  const extract = async (ownerId: string) => {
    maxCharacters -= 1;
    const text = await extractPdfText(ownerId, report, maxCharacters);
    order.push(ownerId);
    return text;
  };
  const many = Array.from({ length: 6 }, () => extract('alice'));
  const one = extract('bob');
  expect(await one).toBe((await Promise.all(many))[0]);
  expect(order.length).toBe(7);
  expect(order.indexOf('bob')).toBeLessThan(4);
});
