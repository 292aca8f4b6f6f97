import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentRig, type Chatter, newThread, startAgent } from '../../test/agent/rig.fixture.ts';
import { embedded } from '../../test/media/rig.fixture.ts';

let rig: AgentRig;
let user: Chatter;
let stranger: Chatter;
let nobody: Chatter;
let taskId: string;
const threadId = newThread();

beforeAll(async () => {
  rig = await startAgent(embedded);
  user = await rig.user();
  stranger = await rig.user();
  nobody = rig.at(rig.url, { ...user, credential: {} });
  taskId = await user.ask(threadId, 'Hello there');
  await user.ended(taskId);
});
afterAll(() => rig.close());

const message = (parts: unknown, more = {}) => ({ threadId, message: { id: 'm', role: 'user', parts, ...more } });
const text = (value: string) => ({ type: 'text', text: value });

describe('checks credentials before anything else', () => {
  const routes = [
    ['POST', '/task'],
    ['GET', '/task/x'],
    ['DELETE', '/task/x'],
    ['GET', '/stream/x'],
    ['GET', '/thread/x/current-task'],
    ['GET', '/messages/x'],
    ['POST', '/video/submit/x'],
  ] as const;

  it.each(routes)('%s %s without a credential: returns 401 for any body', async (method, path) => {
    const { status, body } = await nobody.call(method, path, method === 'POST' ? '{' : undefined);
    expect([status, body.error]).toEqual([401, 'unauthorized']);
  });

  it.each(routes)(
    '%s %s with a wrong internal key and a valid token: 401, unless the route ignores the key',
    async (method, path) => {
      const { status } = await user.call(method, path, method === 'POST' ? {} : undefined, {
        'x-internal-key': 'wrong',
      });
      expect(status).toBe(path.startsWith('/video') ? 404 : 401);
    },
  );

  it('video/submit returns 401 for an internal key without a token', async () => {
    expect((await rig.server.call('POST', `/video/submit/${taskId}`)).status).toBe(401);
  });

  it('/ and /health need none', async () => {
    expect((await nobody.call('GET', '/')).body).toMatchObject({ service: 'agent', version: expect.any(String) });
    expect((await nobody.call('GET', '/health')).body).toEqual({ status: 'ok', service: 'agent' });
  });
});

describe('POST /task: the form', () => {
  it.each([
    ['no threadId', { text: 'hi' }, 'body.threadId'],
    ['an empty threadId', { threadId: '', text: 'hi' }, 'body.threadId'],
    ['129 characters of threadId', { threadId: 'a'.repeat(129), text: 'hi' }, 'body.threadId'],
    ['a slash in threadId', { threadId: 'a/b', text: 'hi' }, 'body.threadId'],
    ['neither message nor text', { threadId }, 'body.message'],
    ['both message and text', { ...message([text('a')]), text: 'b' }, 'body.text'],
    ['an empty text', { threadId, text: ' ' }, 'body.text'],
    ['a text with NUL', { threadId, text: 'a\0b' }, 'body.text'],
    ['a lone surrogate', '{"threadId":"t","text":"\\ud800"}', 'body.text'],
    ['a text that is none', { threadId, text: 5 }, 'body.text'],
    ['a message that is none', { threadId, message: 'hi' }, 'body.message'],
    ['a message of an assistant', message([text('a')], { role: 'assistant' }), 'body.message.role'],
    ['a message of the system', message([text('a')], { role: 'system' }), 'body.message.role'],
    ['no parts', message([]), 'body.message.parts'],
    ['parts that say nothing', message([text(' ')]), 'body.message.parts'],
    ['101 parts', message(Array(101).fill(text('a'))), 'body.message.parts'],
    ['a v4 message', { threadId, message: { id: 'm', role: 'user', content: 'hi' } }, 'body.message.parts'],
    ['a tool part', message([{ type: 'tool-x', toolCallId: 'c', state: 'output-available' }]), 'body.message.parts.0'],
    [
      'a file at a local address',
      message([{ type: 'file', mediaType: 'image/png', url: 'file:///etc/passwd' }]),
      'body.message.parts.0',
    ],
    ['a file without a type', message([{ type: 'file', url: 'https://example.com/a.png' }]), 'body.message.parts.0'],
    ['a data part', message([text('a'), { type: 'data-x', data: 1 }]), 'body.message.parts.1.type'],
    [
      'a video that the user claims to have',
      message([text('a'), { type: 'data-video', data: { kind: 'image', assetId: threadId } }]),
      'body.message.parts.1.type',
    ],
    ['a part that only answers have', message([{ type: 'step-start' }, text('a')]), 'body.message.parts.0.type'],
    ['NUL deep in metadata', message([text('a')], { metadata: { a: ['\0'] } }), 'body.message'],
    ['metadata that is a list', message([text('a')], { metadata: [] }), 'body.message.metadata'],
    ['an unknown rewindTo', { threadId, text: 'hi', rewindTo: 'nowhere' }, 'body.rewindTo'],
    ['an unknown rewindTo of a new thread', { threadId: newThread(), text: 'hi', rewindTo: 'x' }, 'body.rewindTo'],
  ])('%s: 400 naming the field', async (_title, body, path) => {
    const { status, body: answer } = await user.call<{ error: string; issues: { path: string }[] }>(
      'POST',
      '/task',
      body,
    );
    expect([status, answer.error]).toEqual([400, 'invalid_request']);
    expect(answer.issues.map((issue) => issue.path).join()).toContain(path);
  });

  it('returns 400 for invalid JSON, 415 for another type, 413 over 1 MiB, and accepts 1 MiB', async () => {
    expect((await user.call('POST', '/task', '{')).status).toBe(400);
    expect((await user.call('POST', '/task', 'hi', { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await user.call('POST', '/task', { threadId, text: 'a'.repeat(1024 * 1024) })).status).toBe(413);
    const long = newThread();
    await user.ended(await user.ask(long, 'word '.repeat(200_000)));
    expect((await user.messages(long))[0]?.parts[0]?.text).toHaveLength(1_000_000);
  });

  it('internal mode needs userId, which a user need not send', async () => {
    const { status, body } = await rig.server.call<{ issues: { path: string }[] }>('POST', '/task', {
      threadId,
      text: 'hi',
    });
    expect([status, body.issues[0]?.path]).toEqual([400, 'body.userId']);
    expect((await rig.server.call('POST', '/task', { threadId, text: 'hi', userId: 'nobody' })).status).toBe(400);
    for (const userId of [stranger.userId, 'nobody', 5]) {
      const answer = await user.call('POST', '/task', { threadId: newThread(), text: 'hi', userId });
      expect(answer.status).toBe(201);
      expect((await user.ended(String(answer.body.taskId))).userId).toBe(user.userId);
    }
  });
});

describe('whose it is', () => {
  it("another user's thread, task and stream: 403; messages and the current task too", async () => {
    const statuses = await Promise.all([
      stranger.call('POST', '/task', { threadId, text: 'hi' }),
      stranger.call('GET', `/task/${taskId}`),
      stranger.call('DELETE', `/task/${taskId}`),
      stranger.call('GET', `/stream/${taskId}`),
      stranger.call('GET', `/thread/${threadId}/current-task`),
      stranger.call('GET', `/messages/${threadId}`),
    ]);
    expect(statuses.map(({ status }) => status)).toEqual(Array(6).fill(403));
  });

  it('internal mode: the named user must own the thread; reads are not checked', async () => {
    const foreign = { threadId, text: 'hi', userId: stranger.userId };
    expect((await rig.server.call('POST', '/task', foreign)).status).toBe(403);
    expect((await rig.server.call('GET', `/task/${taskId}`)).status).toBe(200);
    expect((await rig.server.call('GET', `/messages/${threadId}`)).status).toBe(200);
    expect((await rig.server.stream(taskId)).done).toBe(true);
    const { status, body } = await rig.server.call('POST', '/task', { threadId, text: 'hi', userId: user.userId });
    expect(status).toBe(201);
    expect((await user.ended(String(body.taskId))).status).toBe('completed');
  });

  it.each(['nonsense', randomUUID(), 'a%2Fb'])('an unknown task %s: 404', async (unknown) => {
    for (const [method, path] of [
      ['GET', '/task/'],
      ['DELETE', '/task/'],
      ['GET', '/stream/'],
      ['POST', '/video/submit/'],
    ] as const)
      expect((await user.call(method, path + unknown)).status).toBe(404);
  });

  it('an unknown thread: no messages, no task; a malformed one: 400', async () => {
    expect((await user.call('GET', `/messages/${newThread()}`)).body).toEqual({ messages: [] });
    expect((await user.call('GET', `/thread/${newThread()}/current-task`)).body).toEqual({ task: null });
    expect((await user.call('GET', '/messages/a%20b')).status).toBe(400);
  });
});

describe('a run', () => {
  it('is in TaskInfo, during the run and after it', async () => {
    const thread = newThread();
    const { status, body } = await user.call('POST', '/task', { threadId: thread, text: '/slow' });
    expect(status).toBe(201);
    const id = String(body.taskId);
    const { body: current } = await user.call<{ task: object }>('GET', `/thread/${thread}/current-task`);
    const info = { taskId: id, threadId: thread, userId: user.userId, status: 'running', error: null };
    expect(current.task).toMatchObject(info);
    expect(await user.task(id)).toMatchObject({
      ...info,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    expect(Object.keys(await user.task(id)).sort()).toEqual(
      ['createdAt', 'error', 'status', 'taskId', 'threadId', 'updatedAt', 'userId'].sort(),
    );

    const twin = await user.call('POST', '/task', { threadId: thread, text: 'again' });
    expect([twin.status, twin.body.taskId, twin.body.reason]).toEqual([409, id, 'running']);

    expect((await user.call('DELETE', `/task/${id}`)).status).toBe(204);
    expect((await user.ended(id)).status).toBe('aborted');
    expect((await user.call('DELETE', `/task/${id}`)).status).toBe(204);
    expect((await user.call('GET', `/thread/${thread}/current-task`)).body).toEqual({ task: null });
    const [, answer] = await user.messages(thread);
    expect(answer).toMatchObject({ role: 'assistant', metadata: { status: 'aborted' } });
    expect((await user.stream(id)).events.at(-1)?.data).toEqual({ type: 'abort' });
  });

  it('starts one of 50 concurrent runs on a thread, and returns its id to the others', async () => {
    const thread = newThread();
    const start = () => user.call('POST', '/task', { threadId: thread, text: '/slow 60' });
    const answers = await Promise.all(Array.from({ length: 50 }, start));
    const started = answers.filter(({ status }) => status === 201);
    expect(started).toHaveLength(1);
    const refused = answers.filter(({ status, body }) => status === 409 && body.taskId === started[0]?.body.taskId);
    expect(refused).toHaveLength(49);
    await user.call('DELETE', `/task/${started[0]?.body.taskId}`);
    await user.ended(String(started[0]?.body.taskId));
    expect((await user.messages(thread)).filter(({ role }) => role === 'user')).toHaveLength(1);
  });

  it('rewinds: the message and all after it are dropped first', async () => {
    const thread = newThread();
    const say = async (id: string, more = {}) => {
      const body = { threadId: thread, message: { id, role: 'user', parts: [text(id)] }, ...more };
      const answer = await user.call('POST', '/task', body);
      expect(answer.status).toBe(201);
      await user.ended(String(answer.body.taskId));
    };
    await say('one');
    await say('two');
    await say('three', { rewindTo: 'two' });
    const messages = await user.messages(thread);
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
    expect(messages.map(({ id }) => id).filter((id) => ['one', 'two', 'three'].includes(id))).toEqual(['one', 'three']);
    await say('one', { rewindTo: 'one' });
    expect((await user.messages(thread)).map(({ id }) => id)[0]).toBe('one');
  });
});

describe('credits', () => {
  it('a run costs 1, a failed run nothing; without credits: 402 and no change', async () => {
    const poor = await rig.user('free', 2);
    const [done, failed, aborted] = [newThread(), newThread(), newThread()];
    await poor.ended(await poor.ask(done, 'hi'));
    expect(await rig.credits(poor)).toBe(1);
    const failing = await poor.ended(await poor.ask(failed, '/fail'));
    // A page that is opened later shows why, and no longer after the next run.
    const current = async () => (await poor.call('GET', `/thread/${failed}/current-task?failed=true`)).body;
    expect(await current()).toEqual({ task: null, failed: failing });
    expect([failing.status, typeof failing.error]).toEqual(['failed', 'string']);
    expect(await rig.credits(poor)).toBe(1);
    const stopped = await poor.ask(aborted, '/slow');
    expect(await rig.credits(poor)).toBe(0);
    const refused = await poor.call('POST', '/task', { threadId: newThread(), text: 'hi' });
    expect([refused.status, refused.body.error]).toEqual([402, 'insufficient_credits']);
    await poor.call('DELETE', `/task/${stopped}`);
    await poor.ended(stopped);
  });

  it('a user without a profile has one from then on: free, 100 credits', async () => {
    const newcomer = randomUUID();
    const answer = await rig.server.call('POST', '/task', { threadId: newThread(), text: 'hi', userId: newcomer });
    await rig.server.ended(String(answer.body.taskId));
    expect(await rig.credits({ ...user, userId: newcomer })).toBe(99);
  });

  it('20 concurrent starts never charge more than the balance', async () => {
    const poor = await rig.user('free', 5);
    const start = () => poor.call('POST', '/task', { threadId: newThread(), text: 'hi' });
    const answers = await Promise.all(Array.from({ length: 20 }, start));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(5);
    expect(answers.filter(({ status }) => status === 402)).toHaveLength(15);
    for (const { body } of answers) if (body.taskId) await poor.ended(String(body.taskId));
    expect(await rig.credits(poor)).toBe(0);
  });
});

describe('browsers', () => {
  it.each([
    ['http://localhost:3000', true],
    ['https://eu.app.example', true],
    ['https://app.example', false],
    ['https://evil.example', false],
  ])('%s: %s', async (origin, allowed) => {
    const preflight = await fetch(`${rig.url}/stream/x`, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'last-event-id,traceparent',
      },
    });
    expect(preflight.headers.get('access-control-allow-origin')).toBe(allowed ? origin : null);
    const headers = (preflight.headers.get('access-control-allow-headers') ?? '').toLowerCase();
    if (allowed)
      for (const name of ['last-event-id', 'traceparent', 'tracestate', 'baggage']) expect(headers).toContain(name);
    const stream = await fetch(`${rig.url}/stream/${taskId}`, { headers: { origin, ...user.credential } });
    expect(stream.headers.get('access-control-allow-origin')).toBe(allowed ? origin : null);
    await stream.text();
  });
});
