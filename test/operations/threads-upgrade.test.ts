/** A database from before threads had titles: the migration gives its threads titles, times and texts to search. */
import { randomUUID } from 'node:crypto';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findMessage } from '#agent/store/messagestore.ts';
import type { RunTables } from '#agent/store/runstore.ts';
import { readThreads } from '#agent/threads/listing.ts';
import { migrations } from '#app/migrations.ts';
import { openDatabase } from '#platform/db/open.ts';
import { createLog } from '#platform/log.ts';
import { createPostgresDatabase, laneEngines } from '../database.fixture.ts';

const log = createLog({ level: 'silent' });

describe.each(laneEngines)('on $name', ({ name, missing }) => {
  describe.skipIf(missing)('an update', () => {
    let dataDir: string;
    let server = { url: 'embedded', drop: async () => undefined as unknown };
    beforeAll(async () => {
      dataDir = await mkdtemp(join(tmpdir(), 'atelier-threads-'));
      if (name === 'postgres') server = await createPostgresDatabase();
    });
    afterAll(async () => {
      await server.drop();
      await rm(dataDir, { recursive: true, force: true });
    });

    /** The migrations of the agent before threads had titles. */
    async function agentBefore() {
      const source = migrations.find(({ service }) => service === 'agent');
      if (source === undefined) throw new Error('The agent has no migrations');
      const folder = join(dataDir, 'before/');
      await cp(new URL('.', source.folder), folder, {
        recursive: true,
        filter: (path) => !/0[2-9]\d_[^/]*$/.test(path),
      });
      return { service: 'agent', folder: pathToFileURL(folder) };
    }

    it('lists and finds existing threads, and knows which run a message started', async () => {
      const old = [...migrations.filter(({ service }) => service !== 'agent'), await agentBefore()];
      const opening = { url: server.url, dataDir: join(dataDir, 'data'), log };
      const [owner, firstTask, secondTask] = [randomUUID(), randomUUID(), randomUUID()];
      const before = await openDatabase({ ...opening, migrations: old });
      const bare = before.queries();
      await sql`
        insert into agent_threads (thread_id, owner_id, last_seq, message_count, created_at) values
          ('chat', ${owner}, 3, 3, '2026-01-01T10:00:00Z'), ('empty', ${owner}, 0, 0, '2026-01-02T10:00:00Z')`.execute(
        bare,
      );
      const question = JSON.stringify([
        { type: 'file', mediaType: 'image/png', url: 'https://example.com/a.png' },
        { type: 'text', text: '  How many\nÄPFEL grow on one tree in a year, and how many of them fall down?' },
      ]);
      const answer = JSON.stringify([{ type: 'step-start' }, { type: 'text', text: 'Some Hundred' }]);
      await sql`
        insert into agent_messages (thread_id, id, resource_id, role, parts, metadata, seq, created_at) values
          ('chat', 'q1', ${owner}, 'user', ${question}, '{}', 1, '2026-01-01T10:00:00Z'),
          ('chat', 'a1', ${owner}, 'assistant', ${answer}, ${JSON.stringify({ taskId: firstTask })}, 2, '2026-01-01T10:00:05Z'),
          ('chat', 'q2', ${owner}, 'user', '[{"type":"text","text":"And pears?"}]', '{}', 3, '2026-01-03T10:00:00.1234Z')`.execute(
        bare,
      );
      await sql`
        insert into agent_runs (task_id, thread_id, owner_id, message_id, status, holder, lease_expires_at, epoch_ms)
        values (${secondTask}, 'chat', ${owner}, 'a2', 'running', ${randomUUID()}, now() + interval '1 hour', 1)`.execute(
        bare,
      );
      await before.close();

      const database = await openDatabase({ ...opening, migrations });
      try {
        const db = database.queries<RunTables>();
        const { threads } = await readThreads({ db }, owner, { limit: 10 });
        expect(threads).toEqual([
          {
            threadId: 'chat',
            title: 'How many ÄPFEL grow on one tree in a year, and how many of',
            createdAt: '2026-01-01T10:00:00.000Z',
            updatedAt: '2026-01-03T10:00:00.123Z',
            messageCount: 3,
            runningTaskId: secondTask,
          },
          {
            threadId: 'empty',
            title: '',
            createdAt: '2026-01-02T10:00:00.000Z',
            updatedAt: '2026-01-02T10:00:00.000Z',
            messageCount: 0,
            runningTaskId: null,
          },
        ]);
        for (const [q, count] of [
          ['hundred pears', 1],
          ['äpfel', 1],
          ['text', 0],
        ] as const)
          expect([q, (await readThreads({ db }, owner, { limit: 10, q })).threads.length]).toEqual([q, count]);
        const tasks = await Promise.all(
          ['q1', 'a1', 'q2'].map(async (id) => (await findMessage(db, 'chat', id))?.taskId),
        );
        expect(tasks).toEqual([firstTask, firstTask, secondTask]);
      } finally {
        await database.close();
      }
    });
  });
});
