import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import type { Database } from '#platform/db/db.ts';
import { contentBomb, fontBomb, loopBomb } from '../../../test/agent/bombs.fixture.ts';
import { pdfOf } from '../../../test/agent/wire.fixture.ts';
import { openTestDatabase } from '../../../test/database.fixture.ts';
import { everyNth } from '../../../test/lane.fixture.ts';
import type { AgentTables } from '../tables.ts';
import { createDocumentReader } from './pdftext.ts';

const report = readFileSync(join(import.meta.dirname, '../../../test/agent/fixtures/report.pdf'));
const maxCharacters = 100_000;

let database: Database;
beforeAll(async () => {
  database = await openTestDatabase(migrations);
});
afterAll(() => database.close());

const db = () => database.queries<AgentTables>();
const unreadable = async () => (await db().selectFrom('agent_unreadable_documents').selectAll().execute()).length;

it('owners take turns, regardless of the number of documents that one of them has waiting', async () => {
  const reader = createDocumentReader(db());
  const order: string[] = [];
  // Another length each time, because texts are cached by it.
  let length = maxCharacters;
  const extract = async (ownerId: string) => {
    length -= 1;
    const text = await reader.readPdf(ownerId, report, length);
    order.push(ownerId);
    return text;
  };
  // Few, because a document waits for 20 s at most, also on a busy machine.
  const many = Array.from({ length: 4 }, () => extract('alice'));
  const one = extract('bob');
  expect(await one).toBe((await Promise.all(many))[0]);
  expect(order.length).toBe(5);
  expect(order.indexOf('bob')).toBeLessThan(3);
});

it.each(
  everyNth<readonly [string, () => Buffer]>(
    [
      ['a font of 2 GB in 1 kB', () => fontBomb(2040)],
      ['a page of 2 GB in 1 kB', () => contentBomb(2040)],
      ['a page that never ends', loopBomb],
    ],
    3,
  ),
)('%s is unreadable for every process, and others are read afterwards', { timeout: 60_000 }, async (_what, make) => {
  const before = await unreadable();
  expect(await createDocumentReader(db()).readPdf('alice', make(), maxCharacters)).toBeUndefined();
  expect(await unreadable()).toBe(before + 1);
  const another = createDocumentReader(db());
  expect(await another.readPdf('bob', make(), maxCharacters)).toBeUndefined();
  expect(await another.readPdf('alice', pdfOf('Bees'), maxCharacters)).toBe('Bees');
  expect(await unreadable()).toBe(before + 1);
});

it('a broken document has no text, and is no bomb', async () => {
  const before = await unreadable();
  expect(await createDocumentReader(db()).readPdf('alice', Buffer.from('%PDF-1.4 x'), maxCharacters)).toBeUndefined();
  expect(await unreadable()).toBe(before);
});
