/** What one user can hold of the agent: runs in progress, open streams, the length of a thread; and what an aborted run costs. */
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { transaction } from '#platform/db/db.ts';
import { type Chatter, newThread } from '../../../test/agent/rig.fixture.ts';
import { type ScriptedRig, startScripted } from '../../../test/agent/scripted.fixture.ts';
import { laneEngines } from '../../../test/database.fixture.ts';
import { isNightly } from '../../../test/lane.fixture.ts';
import type { AgentTables } from '../tables.ts';
import { lockThread } from '../threads/threadstore.ts';

/** PGlite ends 60 starts before the request of another user has arrived. */
const isPostgres = laneEngines[0]?.name === 'postgres';

let rig: ScriptedRig;
beforeAll(async () => {
  rig = await startScripted();
  rig.provider.on('<hang>', { hang: true });
  rig.provider.on('<long>', { text: 'word '.repeat(40_000) });
  const delta = JSON.stringify({ choices: [{ index: 0, delta: { role: 'assistant', content: 'Half a sen' } }] });
  rig.provider.on('<begin>', { answer: { type: 'text/event-stream', body: `data: ${delta}\n\n`, stall: true } });
});
afterAll(() => rig.close());

const post = (user: Chatter, threadId: string, text: string, more = {}) =>
  user.call('POST', '/task', { threadId, text, ...more });
const abort = async (user: Chatter, taskId: unknown) => {
  await user.call('DELETE', `/task/${taskId}`);
  return (await user.ended(String(taskId))).status;
};

describe('runs in progress', () => {
  it('returns 429 above 10 concurrent runs of a user, without a charge', async () => {
    const [user, other] = [await rig.user('pro', 1000), await rig.user('pro', 1000)];
    const onBehalf = { userId: user.userId };
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, place) =>
        place % 2 === 0 ? post(user, newThread(), '<hang>') : post(rig.server, newThread(), '<hang>', onBehalf),
      ),
    );
    const started = answers.filter(({ status }) => status === 201);
    const refused = answers.filter(({ status }) => status !== 201);
    expect(started).toHaveLength(10);
    for (const { status, body, headers } of refused) {
      expect([status, body.error]).toEqual([429, 'too_many_runs']);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect(await rig.credits(user)).toBe(990);
    const threadId = newThread();
    expect((await post(user, threadId, 'hi')).status).toBe(429);
    // Nothing was taken, not even the thread's name.
    expect((await post(other, threadId, 'hi')).status).toBe(201);

    expect(await abort(user, started[0]?.body.taskId)).toBe('aborted');
    expect((await post(user, newThread(), '<hang>')).status).toBe(201);
    expect((await post(user, newThread(), '<hang>')).status).toBe(429);
  });
});

describe('starts of runs', () => {
  it.runIf(isPostgres)('wait for others of their user, and not for those of other users', async () => {
    const [hostile, other] = [await rig.user('pro', 1000), await rig.user('pro', 1000)];
    const ended: string[] = [];
    const start = async (user: Chatter, name: string) => {
      await post(user, newThread(), `<hang>${'x'.repeat(100_000)}`);
      ended.push(name);
    };
    const starts = Array.from({ length: 60 }, () => start(hostile, 'hostile'));
    await start(other, 'other');
    expect(ended.length).toBeLessThan(30);
    await Promise.all(starts);
  });
});

describe('open streams', () => {
  it('are limited to 100 per user across all clients, and a closed stream makes room', async () => {
    const [user, other] = [await rig.user(), await rig.user()];
    const taskId = await user.ask(newThread(), '<hang>');
    const open = async (chatter: Chatter, task = taskId) => {
      const controller = new AbortController();
      const { credential: headers } = chatter;
      const response = await fetch(`${rig.url}/stream/${task}`, { headers, signal: controller.signal });
      return { status: response.status, response, close: () => controller.abort() };
    };
    const streams = await Promise.all(Array.from({ length: 100 }, () => open(user)));
    expect(streams.map(({ status }) => status)).toEqual(Array(100).fill(200));
    for (const chatter of [user, rig.server]) {
      const { status, response } = await open(chatter);
      expect([status, ((await response.json()) as { error: string }).error]).toEqual([429, 'too_many_streams']);
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    const theirs = await open(other, await other.ask(newThread(), '<hang>'));
    expect(theirs.status).toBe(200);

    streams[0]?.close();
    const again = async () => {
      const stream = await open(user);
      if (stream.status === 200) streams.push(stream);
      return stream.status;
    };
    await expect.poll(again).toBe(200);
    expect(await again()).toBe(429);
    for (const { close } of [...streams, theirs]) close();
    await expect.poll(again).toBe(200);
  });
});

describe('a thread', () => {
  /** As so many turns would leave it. */
  async function fill(user: Chatter, messages: number, textBytes: number): Promise<string> {
    const threadId = newThread();
    const [parts, metadata] = [JSON.stringify([{ type: 'text', text: 'x'.repeat(textBytes) }]), '{}'];
    const bytes = Buffer.byteLength(parts + metadata);
    await transaction(rig.media.database.queries<AgentTables>(), async (tx) => {
      await lockThread(tx, threadId, user.userId);
      await sql`
        insert into agent_messages (thread_id, seq, id, resource_id, role, parts, metadata, bytes)
        select ${threadId}, place + 1, 'm-' || place, ${user.userId}::uuid,
          case place % 2 when 0 then 'user' else 'assistant' end, ${parts}::jsonb, ${metadata}::jsonb, ${bytes}
        from generate_series(0, ${messages}::integer - 1) as place`.execute(tx);
      await sql`
        update agent_threads
        set last_seq = ${messages}, message_count = ${messages}, message_bytes = ${messages}::bigint * ${bytes}
        where thread_id = ${threadId}`.execute(tx);
    });
    return threadId;
  }
  const expectFull = async (user: Chatter, threadId: string, text: string) => {
    const before = [await rig.credits(user), await user.messages(threadId)];
    const { status, body } = await post(user, threadId, text);
    expect([status, body.error, body.reason]).toEqual([409, 'thread_full', 'thread_full']);
    expect([await rig.credits(user), await user.messages(threadId)]).toEqual(before);
  };

  it('contains at most 2000 messages including answers, and accepts a question after a rewind', async () => {
    const user = await rig.user();
    const threadId = await fill(user, 1998, 10);
    await user.ended(await user.ask(threadId, 'The last question'));
    const messages = await user.messages(threadId);
    expect(messages).toHaveLength(2000);
    await expectFull(user, threadId, 'One more');
    const rewound = await post(user, threadId, 'Another last question', { rewindTo: messages[1998]?.id });
    expect(rewound.status).toBe(201);
    await user.ended(String(rewound.body.taskId));
    expect(await user.messages(threadId)).toHaveLength(2000);
    await expectFull(user, threadId, 'One more');
    const early = await post(user, threadId, 'From the start', { rewindTo: 'm-0' });
    await user.ended(String(early.body.taskId));
    expect(await user.messages(threadId)).toHaveLength(2);
  });

  it.runIf(isNightly)('is limited to 32 MiB; the answer of a run that has begun is stored completely', async () => {
    const user = await rig.user();
    const threadId = await fill(user, 32, 1024 * 1024 - 4096);
    await expectFull(user, threadId, 'x'.repeat(200_000));
    const { status } = await user.ended(await user.ask(threadId, '<long>'));
    expect(status).toBe('completed');
    const messages = await user.messages(threadId);
    expect(messages).toHaveLength(34);
    expect(messages.at(-1)?.parts.find(({ type }) => type === 'text')?.text).toHaveLength(200_000);
    await expectFull(user, threadId, 'hi');
  });

  it('of many pages is read whole and in order', async () => {
    const user = await rig.user();
    const threadId = await fill(user, 1000, 3000);
    const answer = await user.call<{ messages: { id: string; parts: object[] }[] }>('GET', `/messages/${threadId}`);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(answer.body.messages.map(({ id }) => id)).toEqual(Array.from({ length: 1000 }, (_, place) => `m-${place}`));
    expect(answer.body.messages[999]?.parts).toEqual([{ type: 'text', text: 'x'.repeat(3000) }]);
    const stranger = await rig.user();
    expect((await stranger.call('GET', `/messages/${threadId}`)).status).toBe(403);
  });

  it('reaches the model as far as it fits, newest first', async () => {
    const user = await rig.user();
    const threadId = await fill(user, 2, 500_000);
    const outcome = await rig.runScript(user, [{ text: 'So be it.' }], threadId);
    expect(outcome.status).toBe('completed');
    const { body } = rig.provider.requests.at(-1) ?? {};
    const { messages } = body as { messages: { role: string }[] };
    expect(messages.map(({ role }) => role)).toEqual(['system', 'user']);
  });
});

describe('an aborted run', () => {
  it('is free before its first word, and costs 1 from then on', async () => {
    const user = await rig.user('free', 3);
    expect(await abort(user, await user.ask(newThread(), '<hang>'))).toBe('aborted');
    expect(await rig.credits(user)).toBe(3);

    const threadId = newThread();
    const taskId = await user.ask(threadId, '<begin>');
    const { promise: shown, resolve } = Promise.withResolvers<void>();
    const reading = user.stream(taskId, { onEvent: ({ data }) => data.type === 'text-delta' && resolve() });
    await shown;
    expect(await abort(user, taskId)).toBe('aborted');
    await reading;
    expect(await rig.credits(user)).toBe(2);
    // Again, it changes nothing.
    expect(await abort(user, taskId)).toBe('aborted');
    expect(await rig.credits(user)).toBe(2);
    expect((await user.messages(threadId))[1]).toMatchObject({ metadata: { status: 'aborted' } });
  });
});

it('of a blocked user stop, and those that wait do not start, even while the access token is valid', async () => {
  const user = await rig.user('max', 1000);
  const threadId = newThread();
  const running = await user.ask(threadId, '<hang>');
  const queued = await post(user, threadId, 'Next.', { whenBusy: 'queue' });
  await sql`update user_profiles set blocked_at = now() where id = ${user.userId}`.execute(
    rig.media.database.queries(),
  );
  for (const [path, order] of [
    ['/task', { threadId: newThread(), text: 'hi' }],
    ['/task', { threadId, text: 'hi', whenBusy: 'queue' }],
    ['/images', { prompt: 'a boat' }],
    ['/videos', { prompt: 'a boat' }],
  ] as const) {
    const { status, body } = await user.call('POST', path, order);
    expect([path, status, body.error]).toEqual([path, 403, 'account_blocked']);
  }
  expect(await user.ended(running)).toMatchObject({ status: 'aborted' });
  expect(await user.ended(String(queued.body.taskId))).toMatchObject({ status: 'failed' });
  await sql`update user_profiles set blocked_at = null where id = ${user.userId}`.execute(rig.media.database.queries());
  expect((await post(user, threadId, 'hi')).status).toBe(201);
});
