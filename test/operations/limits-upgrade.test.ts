/** A database from before threads and entities were counted: the migrations count existing rows. */
import { randomUUID } from 'node:crypto';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { appendMessage } from '#agent/store/messagestore.ts';
import type { RunTables } from '#agent/store/runstore.ts';
import { lockThread } from '#agent/store/threadstore.ts';
import { migrations } from '#app/migrations.ts';
import { transaction } from '#platform/db/db.ts';
import { openDatabase } from '#platform/db/open.ts';
import { createLog } from '#platform/log.ts';
import { createPostgresDatabase, laneEngines } from '../database.fixture.ts';

const log = createLog({ level: 'silent' });

describe.each(laneEngines)('on $name', ({ name, missing }) => {
  describe.skipIf(missing)('an update', () => {
    let dataDir: string;
    let server = { url: 'embedded', drop: async () => undefined as unknown };
    beforeAll(async () => {
      dataDir = await mkdtemp(join(tmpdir(), 'atelier-limits-'));
      if (name === 'postgres') server = await createPostgresDatabase();
    });
    afterAll(async () => {
      await server.drop();
      await rm(dataDir, { recursive: true, force: true });
    });

    /** The migrations that the service had before. */
    async function firstOf(service: string) {
      const source = migrations.find((one) => one.service === service);
      if (source === undefined) throw new Error(`Unknown service ${service}`);
      const folder = join(dataDir, `before-${service}/`);
      await cp(new URL('.', source.folder), folder, {
        recursive: true,
        filter: (path) => !/(?:00[2-9]|02\d)_/.test(path),
      });
      return { service, folder: pathToFileURL(folder) };
    }

    it('counts the messages of threads and the memories of entities', async () => {
      const before = migrations.filter(({ service }) => service !== 'agent' && service !== 'memory');
      const old = [...before, await firstOf('agent'), await firstOf('memory')];
      const opening = { url: server.url, dataDir: join(dataDir, 'data'), log };
      const [owner, threadId] = [randomUUID(), 'an-old-thread'];
      const first = await openDatabase({ ...opening, migrations: old });
      const bare = first.queries();
      await sql`insert into agent_threads (thread_id, owner_id, last_seq) values (${threadId}, ${owner}, 2), ('empty', ${owner}, 0)`.execute(
        bare,
      );
      await sql`
        insert into agent_messages (thread_id, id, resource_id, role, parts, metadata, seq)
        select ${threadId}, 'm' || seq, ${owner}, 'user', '[{"type":"text","text":"äöü"}]', '{}', seq from generate_series(1, 2) as seq`.execute(
        bare,
      );
      await sql`insert into memory_entities (entity_type, entity_id, memory_count) values ('user', ${owner}, 2)`.execute(
        bare,
      );
      const { rows } = await sql<{ type: string }>`
        select format_type(atttypid, null) as type from pg_attribute
        where attrelid = 'memories'::regclass and attname = 'embedding'`.execute(bare);
      const vector = rows[0]?.type === 'bytea' ? sql`'\\x00'::bytea` : sql`'[1]'::vector`;
      await sql`
        insert into memories (entity_type, entity_id, type, content, content_hash, metadata, embedder, version, embedding)
        values ('user', ${owner}, 'episodic', 'äöü', '\\x01', '{}', 'e', 1, ${vector}),
          ('user', ${owner}, 'episodic', 'abc', '\\x02', '{"a":1}', 'e', 1, ${vector})`.execute(bare);
      await first.close();

      const database = await openDatabase({ ...opening, migrations });
      try {
        const db = database.queries<RunTables>();
        const { rows: threads } = await sql`
          select message_count::int as messages, message_bytes::int as bytes from agent_threads order by thread_id`.execute(
          db,
        );
        const message = Buffer.byteLength('[{"text": "äöü", "type": "text"}]{}');
        expect(threads).toEqual([
          { messages: 2, bytes: 2 * message },
          { messages: 0, bytes: 0 },
        ]);
        const { rows: entities } = await sql`select memory_bytes::int as bytes from memory_entities`.execute(db);
        expect(entities).toEqual([{ bytes: 6 + 3 + '{"a": 1}'.length }]);
        await transaction(db, async (tx) => {
          await lockThread(tx, threadId, owner);
          const next = { threadId, id: 'm3', ownerId: owner, role: 'user' as const, parts: [], metadata: {} };
          expect(await appendMessage(tx, next, { messages: 2, bytes: 1000 })).toBe(false);
          expect(await appendMessage(tx, next, { messages: 3, bytes: 1000 })).toBe(true);
        });
      } finally {
        await database.close();
      }
    });
  });
});
