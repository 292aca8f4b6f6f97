/** Starts in a thread with a run in progress: refused, queued, or in its place (docs/specification/agent.md#busy-threads). */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LedgerTables } from '#accounts/ledger/credits.ts';
import type { Chatter } from '../../../test/agent/rig.fixture.ts';
import { newThread } from '../../../test/agent/rig.fixture.ts';
import { type ScriptedRig, startScripted } from '../../../test/agent/scripted.fixture.ts';

let rig: ScriptedRig;
let user: Chatter;
beforeAll(async () => {
  rig = await startScripted();
  user = await rig.user('pro', 1000);
});
afterAll(() => rig.close());

const start = (threadId: string, text: string, more: object = {}, headers: object = {}) =>
  user.call('POST', '/task', { threadId, text, ...more }, headers);

/** A run in progress that ends when `release` is called. */
async function occupy(threadId: string) {
  const { promise, resolve: release } = Promise.withResolvers<void>();
  const text = `<busy ${randomUUID()}>`;
  rig.provider.on(text, { after: promise, reply: { text: 'At last.' } });
  return { taskId: await user.ask(threadId, text), release };
}

const textsOf = async (threadId: string) =>
  (await user.messages(threadId)).map(({ parts }) => parts.flatMap(({ text }) => text ?? []).join(''));
const say = (answer: string) => {
  const text = `<${randomUUID()}>`;
  rig.provider.on(text, { text: answer });
  return text;
};
const reservedOf = async ({ userId }: Chatter) =>
  rig.media.database
    .queries<LedgerTables>()
    .selectFrom('credit_ledger')
    .select('reference')
    .where('user_id', '=', userId)
    .where('state', '=', 'reserved')
    .execute();

describe('whenBusy', () => {
  it('starts at once in an idle thread, whatever it is', async () => {
    for (const whenBusy of ['reject', 'queue', 'interrupt']) {
      const { status, body } = await start(newThread(), say('Yes'), { whenBusy });
      expect([status, body]).toEqual([201, { taskId: expect.any(String), threadId: expect.any(String) }]);
      expect(await user.ended(String(body.taskId))).toMatchObject({ status: 'completed' });
    }
  });

  it('rejects by default, and refuses an unknown value', async () => {
    const threadId = newThread();
    const { taskId, release } = await occupy(threadId);
    for (const more of [{}, { whenBusy: 'reject' }]) {
      const { status, body } = await start(threadId, 'Hello?', more);
      expect([status, body.reason, body.taskId]).toEqual([409, 'running', taskId]);
    }
    const unknown = await start(threadId, 'Hello?', { whenBusy: 'wait' });
    expect([unknown.status, unknown.body.issues]).toEqual([400, [expect.objectContaining({ path: 'body.whenBusy' })]]);
    release();
    await user.ended(taskId);
  });

  it('queues at most five, and answers them in their order', async () => {
    const threadId = newThread();
    const { taskId, release } = await occupy(threadId);
    const texts = [1, 2, 3, 4, 5].map((number) => say(`Answer ${number}`));
    const taskIds: string[] = [];
    for (const text of texts) {
      const { status, body } = await start(threadId, text, { whenBusy: 'queue' });
      expect([status, body.queued]).toEqual([201, true]);
      taskIds.push(String(body.taskId));
    }
    const sixth = await start(threadId, 'One more', { whenBusy: 'queue' });
    expect([sixth.status, sixth.body.error, sixth.body.reason]).toEqual([409, 'queue_full', 'queue_full']);
    expect(await user.task(taskIds[0] as string)).toMatchObject({ status: 'queued', error: null });
    const current = await user.call<{ task: { taskId: string }; queued: { taskId: string; message: object }[] }>(
      'GET',
      `/thread/${threadId}/current-task`,
    );
    expect(current.body.task.taskId).toBe(taskId);
    expect(current.body.queued.map((one) => one.taskId)).toEqual(taskIds);
    expect(current.body.queued[1]?.message).toMatchObject({ role: 'user', parts: [{ type: 'text', text: texts[1] }] });
    // The thread shows a question when its run starts.
    expect(await textsOf(threadId)).toHaveLength(1);
    const last = user.stream(taskIds[4] as string);
    release();
    expect((await last).events.map(({ data }) => data.type)).toContain('finish');
    expect((await textsOf(threadId)).slice(1)).toEqual([
      'At last.',
      ...texts.flatMap((text, index) => [text, `Answer ${index + 1}`]),
    ]);
    expect((await user.call('GET', `/thread/${threadId}/current-task`)).body).toEqual({ task: null });
  });

  it('lets a queued run be deleted, free of charge', async () => {
    const own = await rig.user('pro', 2);
    const at = (text: string, more = {}) => own.call('POST', '/task', { threadId, text, ...more });
    const threadId = newThread();
    const { promise, resolve: release } = Promise.withResolvers<void>();
    rig.provider.on('<a slow one>', { after: promise, reply: { text: 'Done' } });
    const { body: first } = await at('<a slow one>');
    const { body: queued } = await at('Never mind', { whenBusy: 'queue' });
    // Both are paid for.
    const refused = await at('And this?', { whenBusy: 'queue' });
    expect([refused.status, refused.body.error]).toEqual([402, 'insufficient_credits']);
    const stream = own.stream(String(queued.taskId));
    for (const _ of [1, 2]) expect((await own.call('DELETE', `/task/${queued.taskId}`)).status).toBe(204);
    expect(await own.task(String(queued.taskId))).toMatchObject({ status: 'aborted' });
    expect((await stream).events.at(-1)?.data).toEqual({ type: 'abort' });
    release();
    await own.ended(String(first.taskId));
    expect(await own.messages(threadId)).toHaveLength(2);
    expect([await rig.credits(own), await reservedOf(own)]).toEqual([1, []]);
  });

  it('returns the same response to a repeated request, and 409 for a message that waits', async () => {
    const threadId = newThread();
    const { taskId, release } = await occupy(threadId);
    const message = { id: randomUUID(), role: 'user', parts: [{ type: 'text', text: say('Once') }] };
    const post = (headers: object) => user.call('POST', '/task', { threadId, message, whenBusy: 'queue' }, headers);
    const key = { 'idempotency-key': randomUUID() };
    const [first, again, other] = [await post(key), await post(key), await post({})];
    expect(again).toMatchObject({ status: 201, body: first.body });
    expect([other.status, other.body.reason, other.body.taskId]).toEqual([409, 'message_exists', first.body.taskId]);
    release();
    await user.ended(taskId);
    await user.ended(String(first.body.taskId));
    expect(await user.messages(threadId)).toHaveLength(4);
  });

  it('interrupts: the run is stopped, and this one starts before those that wait', async () => {
    const threadId = newThread();
    const { taskId, release } = await occupy(threadId);
    const { body: queued } = await start(threadId, say('Second'), { whenBusy: 'queue' });
    const text = say('First');
    const { status, body } = await start(threadId, text, { whenBusy: 'interrupt' });
    expect([status, body]).toEqual([201, { taskId: expect.any(String), threadId }]);
    expect((await user.task(taskId)).status).toBe('aborted');
    await user.ended(String(body.taskId));
    await expect.poll(async () => (await user.task(String(queued.taskId))).status).toBe('completed');
    expect((await textsOf(threadId)).filter((one) => !one.startsWith('<'))).toEqual(['First', 'Second']);
    release();
  });

  it('streams a queued answer to the stock chat transport', async () => {
    const threadId = newThread();
    const { release } = await occupy(threadId);
    const message = { id: randomUUID(), role: 'user', parts: [{ type: 'text', text: say('Streamed') }] };
    const response = await fetch(`${rig.url}/chat`, {
      method: 'POST',
      headers: { ...user.credential, 'content-type': 'application/json' },
      body: JSON.stringify({ id: threadId, messages: [message], whenBusy: 'queue' }),
    });
    expect(response.status).toBe(200);
    release();
    expect(await response.text()).toContain('"delta":"Streamed"');
  });

  it('fails a queued run whose message to rewind to is gone, and goes on with the next one', async () => {
    const threadId = newThread();
    const earlier = await rig.runText(user, threadId, say('Earlier'));
    const [question] = await user.messages(threadId);
    const { taskId, release } = await occupy(threadId);
    const rewindTo = { rewindTo: question?.id, whenBusy: 'queue' };
    const ids: string[] = [];
    for (const text of [say('New'), say('Lost')]) ids.push(String((await start(threadId, text, rewindTo)).body.taskId));
    ids.push(String((await start(threadId, say('Last'), { whenBusy: 'queue' })).body.taskId));
    release();
    const ends = [];
    for (const id of [taskId, ...ids]) ends.push((await user.ended(id)).status);
    await expect.poll(async () => (await user.task(ids[2] as string)).status).toBe('completed');
    expect(earlier.status).toBe('completed');
    expect((await user.task(ids[1] as string)).status).toBe('failed');
    expect((await textsOf(threadId)).filter((one) => !one.startsWith('<'))).toEqual(['New', 'Last']);
  });

  it('ends with the deletion of its thread, and returns its credits', async () => {
    const own = await rig.user('pro', 10);
    const threadId = newThread();
    rig.provider.on('<forever>', { hang: true });
    await own.ask(threadId, '<forever>');
    const { body } = await own.call('POST', '/task', { threadId, text: 'Next', whenBusy: 'queue' });
    expect(body.queued).toBe(true);
    expect((await own.call('DELETE', `/threads/${threadId}`)).status).toBe(204);
    expect([await rig.credits(own), await reservedOf(own)]).toEqual([10, []]);
  });
});
