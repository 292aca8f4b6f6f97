/** Starts that are sent twice: by a retrying proxy, from two tabs, after a crash of the client. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AgentRig, type Chatter, newThread, startAgent } from '../../../test/agent/rig.fixture.ts';
import { onEveryPair } from '../../../test/media/rig.fixture.ts';

onEveryPair('a start that is repeated', (pair) => {
  let rig: AgentRig;
  let user: Chatter;
  beforeAll(async () => {
    rig = await startAgent(pair);
    user = await rig.user();
  });
  afterAll(() => rig.close());

  const start = (chatter: Chatter, key: string, body: object) =>
    chatter.call('POST', '/task', body, { 'idempotency-key': key });
  const runsOf = async (chatter: Chatter) => 1000 - (await rig.credits(chatter));
  const questionsOf = async (chatter: Chatter, threadId: string) =>
    (await chatter.messages(threadId)).filter(({ role }) => role === 'user').length;
  const said = (threadId: string, id: string, more: object = {}) => ({
    threadId,
    message: { id, role: 'user', parts: [{ type: 'text', text: 'hi' }] },
    ...more,
  });

  it('with the same Idempotency-Key returns one run with one charge, even long after its end', async () => {
    const sender = await rig.user();
    const [key, body] = [randomUUID(), { threadId: newThread(), text: 'hi' }];
    const first = await start(sender, key, body);
    expect(first.status).toBe(201);
    await sender.ended(String(first.body.taskId));
    const again = await start(sender, key, body);
    expect([again.status, again.body]).toEqual([201, first.body]);
    expect([await runsOf(sender), await questionsOf(sender, body.threadId)]).toEqual([1, 1]);
  });

  it('sent concurrently starts one run: the others wait for the first response', async () => {
    const sender = await rig.user();
    const [key, body] = [randomUUID(), { threadId: newThread(), text: 'hi' }];
    const answers = await Promise.all(Array.from({ length: 12 }, () => start(sender, key, body)));
    expect(answers.map(({ status }) => status)).toEqual(Array(12).fill(201));
    const taskIds = new Set(answers.map(({ body: { taskId } }) => taskId));
    expect(taskIds.size).toBe(1);
    await sender.ended(String([...taskIds][0]));
    expect([await runsOf(sender), await questionsOf(sender, body.threadId)]).toEqual([1, 1]);
  });

  it('by a server and by the user returns the same run', async () => {
    const sender = await rig.user();
    const [key, body] = [randomUUID(), { threadId: newThread(), text: 'hi' }];
    const first = await start(rig.server, key, { ...body, userId: sender.userId });
    expect((await start(sender, key, body)).body).toEqual(first.body);
    await sender.ended(String(first.body.taskId));
  });

  it('with another body returns 409 and starts no run', async () => {
    const sender = await rig.user();
    const [key, threadId] = [randomUUID(), newThread()];
    const first = await start(sender, key, { threadId, text: 'hi' });
    await sender.ended(String(first.body.taskId));
    const { status, body } = await start(sender, key, { threadId, text: 'ho' });
    expect([status, body]).toMatchObject([
      409,
      { error: 'idempotency_conflict', reason: 'idempotency_conflict', taskId: first.body.taskId },
    ]);
    expect([await runsOf(sender), await questionsOf(sender, threadId)]).toEqual([1, 1]);
  });

  it('after a refusal is a new attempt: only a 201 is stored', async () => {
    const poor = await rig.user('pro', 0);
    const [key, body] = [randomUUID(), { threadId: newThread(), text: 'hi' }];
    expect((await start(poor, key, body)).status).toBe(402);
    expect((await start(poor, key, { ...body, text: 'ho' })).status).toBe(402);
    const busy = newThread();
    const running = await user.ask(busy, '/slow 60');
    expect((await start(user, key, { threadId: busy, text: 'hi' })).status).toBe(409);
    await user.call('DELETE', `/task/${running}`);
    await user.ended(running);
    expect((await start(user, key, { threadId: busy, text: 'hi' })).status).toBe(201);
  });

  it('applies to one user only', async () => {
    const other = await rig.user();
    const key = randomUUID();
    const [mine, theirs] = [await start(user, key, { threadId: newThread(), text: 'hi' }), newThread()];
    const second = await start(other, key, { threadId: theirs, text: 'hi' });
    expect(second.status).toBe(201);
    expect(second.body.taskId).not.toBe(mine.body.taskId);
  });

  it('after 24 hours is a new one', async () => {
    const sender = await rig.user();
    const [key, body] = [randomUUID(), { threadId: newThread(), text: 'hi' }];
    const first = await start(sender, key, body);
    await sender.ended(String(first.body.taskId));
    const age = async (hours: number) =>
      sql`update agent_starts set created_at = now() - make_interval(hours => ${hours}) where key = ${key}`.execute(
        rig.media.database.queries(),
      );
    await age(23);
    expect((await start(sender, key, body)).body).toEqual(first.body);
    await age(25);
    const next = await start(sender, key, body);
    expect(next.status).toBe(201);
    expect(next.body.taskId).not.toBe(first.body.taskId);
    await sender.ended(String(next.body.taskId));
  });

  it.each(['', 'a'.repeat(257), 'ä'])('returns 400 for the key %j', async (key) => {
    const headers = { 'idempotency-key': key };
    const { status, body } = await user.call<{ issues: { path: string }[] }>(
      'POST',
      '/task',
      { threadId: newThread(), text: 'hi' },
      headers,
    );
    expect([status, body.issues?.[0]?.path]).toEqual([400, 'headers.idempotency-key']);
  });

  it('with the id of a message that the thread has is 409 with the run that it started', async () => {
    const sender = await rig.user();
    const threadId = newThread();
    const first = await sender.call('POST', '/task', said(threadId, 'm1'));
    const expectRepeat = async () => {
      const { status, body } = await sender.call('POST', '/task', said(threadId, 'm1'));
      expect([status, body]).toMatchObject([
        409,
        { error: 'message_exists', reason: 'message_exists', taskId: first.body.taskId },
      ]);
    };
    await expectRepeat();
    await sender.ended(String(first.body.taskId));
    await expectRepeat();
    const [, answer] = await sender.messages(threadId);
    const answered = await sender.call('POST', '/task', said(threadId, String(answer?.id)));
    expect([answered.status, answered.body.error, answered.body.taskId]).toEqual([
      409,
      'message_exists',
      first.body.taskId,
    ]);
    expect([await runsOf(sender), await questionsOf(sender, threadId)]).toEqual([1, 1]);
    // An id counts in its thread alone.
    const elsewhere = await sender.call('POST', '/task', said(newThread(), 'm1'));
    expect(elsewhere.status).toBe(201);
  });

  it('from two tabs at the same time starts one run, and the other tab gets its id', async () => {
    const sender = await rig.user();
    const threadId = newThread();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => sender.call('POST', '/task', said(threadId, 'm1'))),
    );
    const started = answers.filter(({ status }) => status === 201);
    expect(started).toHaveLength(1);
    for (const { status, body } of answers.filter((answer) => answer.status !== 201))
      expect([status, body.error, body.taskId]).toEqual([409, 'message_exists', started[0]?.body.taskId]);
    await sender.ended(String(started[0]?.body.taskId));
    expect([await runsOf(sender), await questionsOf(sender, threadId)]).toEqual([1, 1]);
  });

  it('returns the run even without credits', async () => {
    const poor = await rig.user('pro', 1);
    const threadId = newThread();
    const first = await poor.call('POST', '/task', said(threadId, 'm1'));
    await poor.ended(String(first.body.taskId));
    expect((await poor.call('POST', '/task', said(threadId, 'm1'))).body.error).toBe('message_exists');
  });

  it('is not one if the message is rewound', async () => {
    const sender = await rig.user();
    const threadId = newThread();
    for (const id of ['m1', 'm2']) {
      const { body } = await sender.call('POST', '/task', said(threadId, id));
      await sender.ended(String(body.taskId));
    }
    const kept = await sender.call('POST', '/task', said(threadId, 'm1', { rewindTo: 'm2' }));
    expect([kept.status, kept.body.error]).toEqual([409, 'message_exists']);
    expect(await questionsOf(sender, threadId)).toBe(2);
    const edited = await sender.call('POST', '/task', said(threadId, 'm1', { rewindTo: 'm1' }));
    expect(edited.status).toBe(201);
    await sender.ended(String(edited.body.taskId));
    expect(await questionsOf(sender, threadId)).toBe(1);
  });

  it('of an aborted run without output returns that run', async () => {
    const sender = await rig.user();
    const threadId = newThread();
    const message = { id: 'm1', role: 'user', parts: [{ type: 'text', text: '/slow 60' }] };
    const first = await sender.call('POST', '/task', { threadId, message });
    await sender.call('DELETE', `/task/${first.body.taskId}`);
    await sender.ended(String(first.body.taskId));
    const again = await sender.call('POST', '/task', { threadId, message });
    expect([again.status, again.body.taskId]).toEqual([409, first.body.taskId]);
  });
});
