import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AccountTables, ensureProfile, setOpenNotification } from '#accounts/store.ts';
import type { Database } from '#platform/db/db.ts';
import type { JobTables } from '#platform/jobs/jobs.ts';
import { laneEngines } from '../../test/database.fixture.ts';
import {
  leaveSend,
  type NotifyPair,
  newKey,
  startNotifyPair,
  type TestChannel,
} from '../../test/notify/notify.fixture.ts';
import type { NotifyTables } from './tables.ts';

async function unfinishedJobs(database: Database): Promise<number> {
  const jobs = database.queries<JobTables>().selectFrom('jobs').where('status', 'in', ['waiting', 'running']);
  return (await jobs.select('job_id').execute()).length;
}

describe.each(laneEngines)('Idempotency-Key on $name', (engine) => {
  describe.skipIf(engine.missing)('', () => {
    let pair: NotifyPair;
    let database: Database;
    let channel: TestChannel;
    let rigs: NotifyPair['rigs'];
    beforeAll(async () => {
      pair = await startNotifyPair(engine);
      ({ database, channel, rigs } = pair);
    });
    afterAll(() => pair.close());
    beforeEach(() => pair.reset());

    const mail = { from: 'a@example.com', to: 'b@example.com', subject: 'Hello', text: 'Hello' };

    it('sends once and answers the same', async () => {
      const key = newKey();
      const first = await rigs[0].post('/emails', mail, key);
      expect(first.status).toBe(200);
      expect(await rigs[1].post('/emails', mail, key)).toEqual(first);
      expect(channel.sent).toHaveLength(1);
    });

    it('sends once for concurrent requests', async () => {
      const key = newKey();
      channel.obstruct(() => sleep(300));
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, turn) => rigs[turn % 2 === 0 ? 0 : 1].post('/emails', mail, key)),
      );
      expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
      expect(answers[0]?.status).toBe(200);
      expect(channel.sent).toHaveLength(1);
    });

    it('returns 409 for another body, even while the first is in progress', async () => {
      const key = newKey();
      const [reached, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      channel.obstruct(() => {
        reached.resolve();
        return goOn.promise;
      });
      const first = rigs[0].post('/emails', mail, key);
      await reached.promise;
      const other = await rigs[1].post('/emails', { ...mail, subject: 'Other' }, key);
      expect([other.status, other.body.error]).toEqual([409, 'idempotency_conflict']);
      goOn.resolve();
      expect((await first).status).toBe(200);
      expect((await rigs[1].post('/emails', { ...mail, to: 'c@example.com' }, key)).status).toBe(409);
      expect(channel.sent).toHaveLength(1);
    });

    it('counts for each endpoint separately', async () => {
      const key = newKey();
      const { id } = await ensureProfile(database.queries<AccountTables>(), {
        id: randomUUID(),
        email: 'r@example.com',
      });
      expect((await rigs[0].post('/emails', mail, key)).status).toBe(200);
      expect((await rigs[0].post('/notify', { type: 'daily_digest', userId: id }, key)).status).toBe(200);
      expect(channel.sent).toHaveLength(2);
    });

    it('stores a skip as well', async () => {
      const key = newKey();
      const accounts = database.queries<AccountTables>();
      const { id } = await ensureProfile(accounts, { id: randomUUID(), email: 'r@example.com' });
      await setOpenNotification(accounts, id, false);
      const request = { type: 'daily_digest', userId: id };
      const skipped = await rigs[0].post('/notify', request, key);
      expect(skipped.body).toEqual({ skipped: true, reason: 'disabled_by_user' });
      await setOpenNotification(accounts, id, true);
      expect(await rigs[1].post('/notify', request, key)).toEqual(skipped);
      expect((await rigs[1].post('/notify', request)).body.delivered).toHaveLength(1);
    });

    it('does not keep a 400', async () => {
      const key = newKey();
      expect((await rigs[0].post('/emails', { ...mail, to: 'x' }, key)).status).toBe(400);
      expect((await rigs[0].post('/emails', mail, key)).status).toBe(200);
    });

    it('sends the same email again, under the same id, after a 500', async () => {
      const key = newKey();
      channel.obstruct(async () => {
        throw new Error('down');
      });
      expect((await rigs[0].post('/emails', mail, key)).status).toBe(500);
      expect(channel.sent).toEqual([]);
      channel.obstruct(async () => undefined);
      expect((await rigs[1].post('/emails', mail, key)).status).toBe(200);
      expect(channel.sent).toHaveLength(1);
    });

    it('ends a send at its 500: no job tries it again', async () => {
      channel.obstruct(async () => {
        throw new Error('down');
      });
      expect((await rigs[0].post('/emails', mail)).status).toBe(500);
      channel.obstruct(async () => undefined);
      expect(await unfinishedJobs(database)).toBe(0);
      expect(channel.sent).toEqual([]);
    });

    it.each(['', 'x'.repeat(257), 'é'])('refuses the key %j', async (key) => {
      const answer = await rigs[0].app.inject({
        method: 'POST',
        url: '/emails',
        headers: { 'x-internal-key': 'the internal key', 'idempotency-key': key },
        payload: mail,
      });
      expect([answer.statusCode, answer.json().issues[0].path]).toEqual([400, 'headers.idempotency-key']);
    });

    describe('a send whose process died', () => {
      const left = (key?: string) =>
        leaveSend(database, {
          key,
          body: { ...mail, to: [mail.to] },
          mail: { ...mail, to: [mail.to], cc: [], bcc: [], replyTo: [], headers: {} },
        });

      it('is continued once, by another process', async () => {
        const ids = await Promise.all(Array.from({ length: 8 }, () => left()));
        await expect
          .poll(() => channel.sent.map(({ id }) => id).sort(), { timeout: 20_000, interval: 200 })
          .toEqual([...ids].sort());
        await expect.poll(() => unfinishedJobs(database)).toBe(0);
        expect(channel.sent).toHaveLength(ids.length);
      });

      it('is retried until it is sent', async () => {
        let tries = 0;
        channel.obstruct(async () => {
          tries += 1;
          if (tries < 2) throw new Error('down');
        });
        const id = await left();
        await expect.poll(() => channel.sent.map((send) => send.id), { timeout: 40_000, interval: 200 }).toEqual([id]);
      });

      it('is retried immediately by a repeated request with its key, instead of after its delay', async () => {
        const key = randomUUID();
        channel.obstruct(async () => {
          throw new Error('down');
        });
        const id = await left(key);
        const failures = database.queries<NotifyTables>().selectFrom('notify_sends').select('failure');
        await expect.poll(() => failures.where('id', '=', id).executeTakeFirst()).toEqual({ failure: 'down' });
        channel.obstruct(async () => undefined);
        expect((await rigs[1].post('/emails', mail, { 'idempotency-key': key })).status).toBe(200);
        expect(channel.sent.map((send) => send.id)).toEqual([id]);
      });

      it('is joined by a repeat with its key', async () => {
        const key = randomUUID();
        const id = await left(key);
        const answer = await rigs[0].post('/emails', mail, { 'idempotency-key': key });
        expect(answer.body).toEqual({ id: `provider-${id}` });
        expect(channel.sent.map((send) => send.id)).toEqual([id]);
      });
    });
  });
});
