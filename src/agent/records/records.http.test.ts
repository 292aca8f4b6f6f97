/** Runs and generations as operators see them, at the service and through the console. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { imageModel } from '#agent/generation/catalogue.ts';
import { ProviderFailed } from '#agent/providers/generators.ts';
import type { Replay, ShownRunPage } from '#console/runs/api.ts';
import { offlineImages } from '#local/renderer/renderer.ts';
import { type Provider, startProvider } from '../../../test/agent/provider.fixture.ts';
import { type AgentRig, type Chatter, modelsOf, newThread, startAgent } from '../../../test/agent/rig.fixture.ts';
import { type ConsoleServer, internalAt, startConsoleServer } from '../../../test/console/server.fixture.ts';
import { onEveryPair } from '../../../test/media/rig.fixture.ts';
import type { FailureCounts, GenerationRecordPage, RunPage, RunRecord, Titles } from './api.ts';

onEveryPair('records', (pair) => {
  let provider: Provider;
  let rig: AgentRig;
  let operator: ConsoleServer;
  let user: Chatter;
  beforeAll(async () => {
    provider = await startProvider();
    provider.on('say hello', { text: 'Hello, you.' });
    const args = { prompt: 'a red fox' };
    provider.on('draw', ({ body }) =>
      JSON.stringify(body).includes('"role":"tool"')
        ? { text: 'It failed.' }
        : { calls: [{ id: 'a', name: 'generateImage', args }] },
    );
    provider.on('go on', { calls: [{ id: 'a', name: 'recallMemory', args: { query: 'foxes' } }] });
    provider.on('fail', { answer: { status: 500, body: '{"error":{"message":"the cluster is on fire"}}' } });
    const images = imageModel(
      {
        ...offlineImages,
        generate: () =>
          Promise.reject(
            new ProviderFailed('The image provider returned 503.', {
              status: 503,
              cause: new Error('no capacity in eu'),
            }),
          ),
      },
      { id: 'broken-images' },
    );
    rig = await startAgent(pair, {
      model: modelsOf({ url: provider.url, names: ['scripted'], apiKey: 'sk-test' }),
      imageGenerator: images.generator,
    });
    const key = rig.server.credential['x-internal-key'] ?? '';
    operator = await startConsoleServer(rig.media.database, {
      internal: internalAt(key, rig.url),
      traceUrl: 'https://traces.example.com/{traceId}',
    });
    user = await rig.user();
  });
  afterAll(async () => {
    await operator.close();
    await rig.close();
    provider.close();
  });

  const say = async (text: string, chatter = user) => {
    const taskId = await chatter.ask(newThread(), text);
    await chatter.ended(taskId);
    return taskId;
  };
  const read = async (taskId: string) => (await rig.server.call<RunRecord>('GET', `/runs/${taskId}`)).body;
  const list = async (query: string) => (await rig.server.call<RunPage>('GET', `/runs?${query}`)).body;

  it('a run has its request, steps, tokens, credits, time and trace, and nothing of its answer', async () => {
    const taskId = await say('say hello to everyone');
    const record = await read(taskId);
    expect(record).toMatchObject({
      taskId,
      userId: user.userId,
      status: 'completed',
      model: 'scripted',
      error: null,
      answer: null,
      request: 'say hello to everyone',
      steps: 1,
      tools: [],
      timeline: [{ tookMs: expect.any(Number), inputTokens: null, outputTokens: null, failure: null, calls: [] }],
      credits: 1,
      restarts: 0,
      traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
      requestId: expect.any(String),
    });
    expect(Date.parse(record.endedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(record.createdAt));
    expect(JSON.stringify(record)).not.toContain('Hello, you.');
  });

  it('a failed run has the answer of the provider, which its owner does not see', async () => {
    const taskId = await say('fail please');
    expect(await read(taskId)).toMatchObject({
      status: 'failed',
      error: 'The model provider returned 500.',
      answer: expect.stringContaining('the cluster is on fire'),
      // The step had shown nothing when it failed.
      timeline: [{ tookMs: expect.any(Number), failure: 'The model provider returned 500.', calls: [] }],
    });
    expect(JSON.stringify(await user.task(taskId))).not.toContain('cluster');
  });

  it('are listed newest first, page by page, by status, user and model', async () => {
    const other = await rig.user();
    const taskIds = [await say('say hello', other), await say('fail', other), await say('say hello', other)];
    const byUser = `userId=${other.userId}`;
    const idsOf = ({ runs }: RunPage) => runs.map(({ taskId }) => taskId);
    expect(idsOf(await list(byUser))).toEqual(taskIds.toReversed());
    const first = await list(`${byUser}&limit=2`);
    expect(idsOf(first)).toEqual(taskIds.slice(1).toReversed());
    const second = await list(`${byUser}&limit=2&cursor=${first.next_cursor}`);
    expect([idsOf(second), second.next_cursor]).toEqual([[taskIds[0]], null]);
    expect(idsOf(await list(`${byUser}&status=failed`))).toEqual([taskIds[1]]);
    expect(idsOf(await list(`${byUser}&model=unknown`))).toEqual([]);
  });

  it.each([
    ['status=lost', 'querystring.status'],
    ['userId=1', 'querystring.userId'],
    ['cursor=x', 'querystring.cursor'],
    ['limit=0', 'querystring.limit'],
  ])('returns 400 for %s and names the field', async (query, field) => {
    for (const path of ['/runs', '/generations/all']) {
      const { status, body } = await rig.server.call<{ issues?: { path: string }[] }>('GET', `${path}?${query}`);
      expect([path, status, body.issues?.[0]?.path]).toEqual([path, 400, field]);
    }
  });

  it('images and videos are listed with the answers of their providers', async () => {
    const order = { prompt: 'a lonely lighthouse', n: 1, ratio: '16:9', seed: 7 };
    const { body } = await user.call<{ id: string }>('POST', '/images', order, { prefer: 'wait=60' });
    const query = `userId=${user.userId}`;
    const { generations } = (await rig.server.call<GenerationRecordPage>('GET', `/generations/all?${query}`)).body;
    expect(generations).toMatchObject([
      {
        id: body.id,
        kind: 'image',
        userId: user.userId,
        taskId: null,
        prompt: 'a lonely lighthouse',
        assetIds: [],
        ratio: '16:9',
        references: [],
        status: 'failed',
        count: 1,
        delivered: 0,
        failure: 'The image provider returned 503.',
        failureCode: 'provider_failed',
        answer: '503 The image provider returned 503.\nno capacity in eu',
        price: expect.any(Number),
        parameters: { seed: 7 },
        orderedAt: expect.any(String),
        tookMs: expect.any(Number),
      },
    ]);
    const none = await rig.server.call<GenerationRecordPage>('GET', `/generations/all?${query}&kind=video`);
    expect(none.body.generations).toEqual([]);
    const seen = await user.call('GET', `/generations/${body.id}`);
    expect(JSON.stringify(seen.body)).not.toContain('capacity');
  });

  it('an image that a run could not make is listed with its prompt, its model and the answer of the provider', async () => {
    const person = await rig.user();
    const taskId = await say('please draw a red fox', person);
    const query = `userId=${person.userId}`;
    const { generations } = (await rig.server.call<GenerationRecordPage>('GET', `/generations/all?${query}`)).body;
    const failed = {
      status: 'failed',
      failure: 'The image provider returned 503.',
      answer: expect.stringContaining('no capacity in eu'),
    };
    const made = { model: 'an-image-model', prompt: 'a red fox', ratio: '1:1', references: [] };
    const order = { taskId, ...made, count: 1, delivered: 0, credits: 0 };
    expect(generations).toMatchObject([{ id: taskId, kind: 'image', ...order, ...failed }]);
    const { tools, timeline } = await read(taskId);
    // The time of the image, and not of the whole run.
    expect(generations[0]).toMatchObject({
      ...{ price: null, parameters: {}, orderedAt: null },
      tookMs: timeline[0]?.calls[0]?.tookMs,
    });
    expect(tools).toEqual(['generateImage']);
    expect(timeline).toMatchObject([
      {
        calls: [{ name: 'generateImage', tookMs: expect.any(Number), failure: failed.failure, answer: failed.answer }],
      },
      { calls: [] },
    ]);
    expect(JSON.stringify(await person.task(taskId))).not.toContain('capacity');
  });

  it('an order that its user could not pay is refused, and not failed', async () => {
    const person = await rig.user('pro', 1);
    const taskId = await say('please draw a red fox', person);
    const of = async (query: string) => {
      const path = `/generations/all?userId=${person.userId}&${query}`;
      return (await rig.server.call<GenerationRecordPage>('GET', path)).body.generations;
    };
    expect(await of('status=failed')).toEqual([]);
    const refused = { id: taskId, status: 'refused', failureCode: 'insufficient_credits', delivered: 0 };
    // As it was ordered, so that the filter by this model finds it.
    const asked = { model: 'an-image-model', ratio: '1:1', count: 1, required: 2, balance: 0 };
    expect(await of('status=refused&model=an-image-model')).toMatchObject([{ ...refused, ...asked }]);
    expect(await of('status=refused&model=scripted')).toEqual([]);
    const { status, timeline } = await read(taskId);
    expect([status, timeline[0]?.calls[0]?.code]).toEqual(['completed', 'insufficient_credits']);
  });

  it('a refused order has the model, the ratio and the number that its user chose', async () => {
    const person = await rig.user('pro', 1);
    const media = { imageModel: 'an-image-model', ratio: '16:9', count: 3 };
    const order = { threadId: newThread(), text: 'please draw a red fox', media };
    const { body } = await person.call<{ taskId: string }>('POST', '/task', order);
    await person.ended(body.taskId);
    const path = `/generations/all?userId=${person.userId}`;
    const { generations } = (await rig.server.call<GenerationRecordPage>('GET', path)).body;
    expect(generations).toMatchObject([{ model: 'an-image-model', ratio: '16:9', count: 3, required: 6, balance: 0 }]);
  });

  it('a run that the limit of steps stopped is distinguished from a complete one', async () => {
    const { finishReason, status, steps } = await read(await say('go on'));
    expect([finishReason, status, steps]).toEqual(['max-steps', 'completed', 8]);
    expect((await read(await say('say hello'))).finishReason).toBe('stop');
  });

  it('failed runs are counted by user, since a day', async () => {
    const person = await rig.user();
    for (const text of ['fail', 'fail again', 'say hello']) await say(text, person);
    const today = new Date().toISOString().slice(0, 10);
    const count = async (from: string) => (await operator.read<FailureCounts>(`/api/failures?from=${from}`)).failures;
    expect((await count(today))[person.userId]).toBe(2);
    expect(await count('2999-01-01')).toEqual({});
  });

  it('are found by words, ids and people, and by days', async () => {
    const [one, other] = [await rig.user(), await rig.user()];
    const threadId = newThread();
    const first = await one.ask(threadId, 'say hello to a Purple   Heron');
    await one.ended(first);
    const second = await say('say hello', other);
    const found = async (query: string) => (await list(query)).runs.map(({ taskId }) => taskId);
    const { traceId } = await read(first);
    for (const q of ['purple', first, traceId]) expect([q, await found(`q=${q}`)]).toEqual([q, [first]]);
    expect(await found('q=nothing%20like%20this')).toEqual([]);
    expect(await found(`threadId=${threadId}`)).toEqual([first]);
    const today = new Date().toISOString().slice(0, 10);
    expect(await found(`userId=${other.userId}&from=${today}&to=${today}`)).toEqual([second]);
    expect(await found(`userId=${other.userId}&to=2026-01-01`)).toEqual([]);
    const order = { prompt: 'a Purple lantern', n: 1 };
    const { body } = await one.call<{ id: string }>('POST', '/images', order, { prefer: 'wait=60' });
    for (const query of ['q=purple', 'q=no%20capacity', `id=${body.id}`]) {
      const { generations } = (
        await rig.server.call<GenerationRecordPage>('GET', `/generations/all?userId=${one.userId}&${query}`)
      ).body;
      expect([query, generations.map(({ id }) => id)]).toEqual([query, [body.id]]);
    }
  });

  it('the content of a temporary conversation is not shown', async () => {
    const message = { role: 'user', parts: [{ type: 'text', text: 'please draw a secret' }] };
    const started = { threadId: newThread(), temporary: true, message };
    const { body } = await user.call<{ taskId: string }>('POST', '/task', started);
    await user.ended(body.taskId);
    expect((await read(body.taskId)).request).toBeNull();
    const { generations } = (await rig.server.call<GenerationRecordPage>('GET', `/generations/all?id=${body.taskId}`))
      .body;
    expect(generations).toMatchObject([{ id: body.taskId, prompt: null, assetIds: [] }]);
    expect((await list('q=secret')).runs).toEqual([]);
  });

  it('the titles of conversations are read apart, without temporary and unknown ones', async () => {
    const [kept, temporary] = [newThread(), newThread()];
    await user.ended(await user.ask(kept, 'say hello to the moon'));
    const body = {
      threadId: temporary,
      temporary: true,
      message: { role: 'user', parts: [{ type: 'text', text: 'say hello' }] },
    };
    const started = await user.call<{ taskId: string }>('POST', '/task', body);
    expect(started.status).toBe(201);
    await user.ended(started.body.taskId);
    const read = async (ids: string) => rig.server.call<Titles>('GET', `/threads/titles?ids=${ids}`);
    expect((await read([kept, temporary, newThread()].join(','))).body.titles).toEqual({
      [kept]: 'say hello to the moon',
    });
    expect([(await read('')).status, (await read('a,b c')).status]).toEqual([400, 400]);
    expect((await read(Array.from({ length: 101 }, () => newThread()).join(','))).status).toBe(400);
  });

  it('only the internal key reads them', async () => {
    for (const path of ['/runs', `/runs/${randomUUID()}`, '/generations/all', '/threads/titles?ids=a'])
      expect([path, (await user.call('GET', path)).status]).toEqual([path, 403]);
    expect((await rig.server.call('GET', `/runs/${randomUUID()}`)).status).toBe(404);
  });

  describe('through the console', () => {
    it('only operators read them, with a link to the trace', async () => {
      const taskId = await say('say hello');
      const { traceId } = await read(taskId);
      const page = await operator.read<ShownRunPage>(`/api/runs?userId=${user.userId}&limit=1`);
      expect(page.runs).toMatchObject([{ taskId, traceUrl: `https://traces.example.com/${traceId}` }]);
      for (const path of ['/api/runs', `/api/runs/${taskId}`, `/api/runs/${taskId}/events`, '/api/generations'])
        expect([path, (await operator.send('GET', path, undefined, {})).status]).toEqual([path, 401]);
    });

    it('a stream can be read again, and the audit log records who read it', async () => {
      const taskId = await say('say hello');
      const { events, isCut } = await operator.read<Replay>(`/api/runs/${taskId}/events`);
      expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(['start', 'text-delta', 'finish']));
      expect(events.find(({ type }) => type === 'text-delta')?.text).toBe('Hello, you.');
      expect(isCut).toBe(false);
      const rows = await rig.media.database
        .queries<{ operator_actions: { actor: string; action: string } }>()
        .selectFrom('operator_actions')
        .select(['actor', 'action'])
        .where('action', '=', `read stream ${taskId}`)
        .execute();
      expect(rows).toEqual([{ actor: 'console', action: `read stream ${taskId}` }]);
    });
  });
});
