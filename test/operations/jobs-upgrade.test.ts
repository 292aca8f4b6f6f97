/** Mails and sign-outs that a version without these queues left behind: the next version takes them up, once. */
import { randomUUID } from 'node:crypto';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import { createSealer } from '#auth/sealing.ts';
import type { Database } from '#platform/db/db.ts';
import { openDatabase } from '#platform/db/open.ts';
import { createLog } from '#platform/log.ts';
import { startAuth } from '../auth/rig.fixture.ts';
import { createPostgresDatabase, laneEngines } from '../database.fixture.ts';
import { createTestChannel, startNotify } from '../notify/notify.fixture.ts';

const log = createLog({ level: 'silent' });

describe.each(laneEngines)('an update on $name', ({ name, missing }) => {
  describe.skipIf(missing)('', () => {
    let dataDir: string;
    let server = { url: 'embedded', drop: async () => undefined as unknown };
    let database: Database | undefined;
    beforeEach(async () => {
      dataDir = await mkdtemp(join(tmpdir(), 'atelier-jobs-upgrade-'));
      if (name === 'postgres') server = await createPostgresDatabase();
    });
    afterEach(async () => {
      await database?.close();
      await server.drop();
      await rm(dataDir, { recursive: true, force: true });
    });

    const open = (sources: typeof migrations) =>
      openDatabase({ url: server.url, dataDir: join(dataDir, 'data'), migrations: sources, log });

    /** The database as the version before had it. */
    async function openBefore(): Promise<Database> {
      const sources = await Promise.all(
        migrations.map(async ({ service, folder }) => {
          if (service !== 'notify' && service !== 'auth') return { service, folder };
          const before = join(dataDir, `before-${service}/`);
          const isOld = (path: string) => !/\/(00[3-9]|0[1-9]\d|[1-9]\d\d)_/.test(path);
          await cp(new URL('.', folder), before, { recursive: true, filter: isOld });
          return { service, folder: pathToFileURL(before) };
        }),
      );
      return open(sources);
    }

    it('sends the emails of a process that died', async () => {
      const old = await openBefore();
      const [left, claimed] = [randomUUID(), randomUUID()];
      const mail = {
        from: 'a@example.com',
        to: ['b@example.com'],
        cc: [],
        bcc: [],
        replyTo: [],
        subject: 'S',
        text: 'T',
      };
      const content = JSON.stringify({ ...mail, headers: {} });
      await sql`
        insert into notify_sends (id, endpoint, body_digest, status, mail, claimed_until) values
          (${left}, 'emails', 'x', 'pending', cast(${content} as jsonb), now() - interval '1 minute'),
          (${claimed}, 'emails', 'x', 'pending', cast(${content} as jsonb), now() + interval '3 seconds'),
          (${randomUUID()}, 'emails', 'x', 'failed', cast(${content} as jsonb), now() - interval '1 minute'),
          (${randomUUID()}, 'emails', 'x', 'sent', null, now() - interval '1 minute')`.execute(old.queries());
      await old.close();

      database = await open(migrations);
      const channel = createTestChannel();
      const rig = await startNotify(database, channel);
      const again = await startNotify(database, channel);
      const sent = () => channel.sent.map(({ id }) => id);
      await expect.poll(sent, { timeout: 5000 }).toContain(left);
      await expect.poll(() => sent().toSorted(), { timeout: 20_000 }).toEqual([left, claimed].toSorted());
      await again.close();
      await rig.close();
    });

    it('sends the sign-outs that the provider did not accept', async () => {
      const old = await openBefore();
      const sealer = createSealer(['a secret'], 'revocation');
      await sql`insert into session_revocations (sealed, scope, tries) values (${sealer.seal('a token')}, 'local', 3)`.execute(
        old.queries(),
      );
      await old.close();

      const rig = await startAuth({ database: () => open(migrations), changes: { cookieSecrets: ['a secret'] } });
      await expect.poll(() => rig.db.selectFrom('session_revocations').select('id').execute()).toEqual([]);
      expect((await rig.calls()).refresh).toBe(1);
      await rig.close();
    });
  });
});
