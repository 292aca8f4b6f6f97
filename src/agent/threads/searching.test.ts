import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import type { Database, Db } from '#platform/db/db.ts';
import { databaseEngines } from '../../../test/database.fixture.ts';
import { isNightly } from '../../../test/lane.fixture.ts';
import type { AgentContext } from '../context.ts';
import type { AgentTables } from '../tables.ts';
import { readThreads, searchThreads } from './listing.ts';

const mebibyte = 1024 * 1024;
const filler = (bytes: number) => 'lorem ipsum '.repeat(Math.ceil(bytes / 12)).slice(0, bytes);

describe.each(databaseEngines)('the search in threads on $name', ({ missing, open }) => {
  describe.skipIf(missing)('reads texts in pieces', () => {
    let database: Database;
    let db: Db<AgentTables>;
    beforeAll(async () => {
      database = await open(migrations);
      db = database.queries<AgentTables>();
    });
    afterAll(() => database.close());

    let minute = 0;
    /** Plants a thread that is newer than all before. */
    async function plant(ownerId: string, title: string, texts: readonly string[]): Promise<string> {
      const threadId = randomUUID();
      minute += 1;
      const bytes = texts.reduce((sum, text) => sum + text.length, 0);
      await sql`
        insert into agent_threads (thread_id, owner_id, title, last_seq, message_count, message_bytes, updated_at)
        values (${threadId}, ${ownerId}, ${title}, ${texts.length}, ${texts.length}, ${bytes},
          timestamptz '2026-01-01' + ${minute} * interval '1 minute')`.execute(db);
      for (const [index, text] of texts.entries())
        await sql`
          insert into agent_messages (thread_id, id, resource_id, role, parts, metadata, seq, bytes, search_text)
          values (${threadId}, ${`m${index}`}, ${ownerId}, 'user', '[]', '{}', ${index + 1}, ${text.length}, ${text})`.execute(
          db,
        );
      return threadId;
    }
    const search = async (ownerId: string, ...words: string[]) =>
      (await searchThreads(db, { ownerId, words, after: undefined, limit: 200 })).map(({ threadId }) => threadId);

    it.runIf(isNightly)('finds words that are far apart in a long thread, and in its title', async () => {
      const owner = randomUUID();
      const texts = ['a bee', ...Array.from({ length: 12 }, () => filler(mebibyte)), 'a whale'];
      const long = await plant(owner, 'Some Animals', texts);
      await plant(owner, '', ['a bee']);
      expect(await search(owner, 'bee', 'whale')).toEqual([long]);
      expect(await search(owner, 'bee', 'whale', 'animals')).toEqual([long]);
      expect(await search(owner, 'bee', 'whale', 'plants')).toEqual([]);
      expect(await search(randomUUID(), 'bee')).toEqual([]);
    });

    it('finds one message that is larger than a piece', async () => {
      const owner = randomUUID();
      const threadId = await plant(owner, '', ['first', `${filler(5 * mebibyte)} bee`, 'last']);
      expect(await search(owner, 'bee', 'first', 'last')).toEqual([threadId]);
    });

    it('pages through the threads that it finds among many others', async () => {
      const owner = randomUUID();
      const found: string[] = [];
      for (let index = 0; index < 120; index++) {
        const threadId = await plant(owner, '', [index % 20 === 0 ? 'a bee' : 'a wasp']);
        if (index % 20 === 0) found.unshift(threadId);
      }
      const seen: string[] = [];
      for (let cursor: string | undefined, isLast = false; !isLast; ) {
        const page = await readThreads({ db } as AgentContext, owner, {
          limit: 4,
          q: 'bee',
          ...(cursor && { cursor }),
        });
        seen.push(...page.threads.map(({ threadId }) => threadId));
        cursor = page.next_cursor ?? undefined;
        isLast = cursor === undefined;
      }
      expect(seen).toEqual(found);
    });

    it.runIf(isNightly)('lets other work in after each piece, and ends when its caller leaves', async () => {
      const owner = randomUUID();
      await plant(
        owner,
        '',
        Array.from({ length: 24 }, () => filler(mebibyte)),
      );
      let turns = 0;
      let isOver = false;
      const counting = (async () => {
        for (; !isOver; turns++) await nextTurn();
      })();
      expect(await search(owner, 'ipsum', 'bee')).toEqual([]);
      isOver = true;
      await counting;
      // 24 MiB and two words: 12 pieces.
      expect(turns).toBeGreaterThanOrEqual(12);
      const words = { ownerId: owner, words: ['bee'], after: undefined, limit: 1 };
      await expect(searchThreads(db, words, AbortSignal.abort(new Error('left')))).rejects.toThrow('left');
    });
  });
});
