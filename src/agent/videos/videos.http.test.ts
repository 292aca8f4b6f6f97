import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Plan } from '#accounts/api.ts';
import type { AccountTables } from '#accounts/store.ts';
import { createLog } from '#platform/log.ts';
import { movieMark } from '#platform/metadata/movie.ts';
import type { ScriptedAnswer } from '../../../test/agent/provider.fixture.ts';
import { type Chatter, newThread } from '../../../test/agent/rig.fixture.ts';
import { calling, json, providerKey, type ScriptedRig, startScripted } from '../../../test/agent/scripted.fixture.ts';
import { refusal } from '../../../test/agent/wire.fixture.ts';
import { setPlanAndCredits } from '../../../test/credits.fixture.ts';
import { skipWithout } from '../../../test/programs.fixture.ts';
import { listEvents } from '../eventlog/eventstore.ts';
import type { GenerationRecordPage } from '../records/api.ts';
import type { AgentTables } from '../tables.ts';

let rig: ScriptedRig;
const logged: string[] = [];
let mp4: Buffer;
beforeAll(async () => {
  // Without ffmpeg, the clips of these tests are not examined.
  const log = createLog({ level: 'warn', destination: { write: (line: string) => void logged.push(line) } });
  const screening = { ffmpegPath: '/nowhere/ffmpeg' };
  rig = await startScripted({ screening, changes: { server: { log, readiness: {} }, pace: { videoWaitMs: 60_000 } } });
  const { offlineVideos } = await import('#local/renderer/renderer.ts');
  const order = { prompt: 'a clip', ratio: '16:9', signal: new AbortController().signal };
  mp4 = Buffer.from((await offlineVideos.download(order)).bytes);
});
afterAll(() => rig.close());

type Output = Record<string, unknown> & { readonly videoId: string; readonly failure?: Record<string, unknown> };
const done: ScriptedAnswer = { text: 'So be it.' };
const queued = json({ id: 'x', status: 'queued' });

/** The provider's responses to the order, to a poll, and to the request for the file. */
interface Making {
  readonly order?: ScriptedAnswer;
  readonly states?: readonly ScriptedAnswer[];
  readonly content?: ScriptedAnswer;
}

/** Scripts one video; returns its prompt. */
function script({ order, states, content }: Making = {}): string {
  const id = `v${randomUUID()}`;
  const prompt = `clip ${id}`;
  rig.provider.on(prompt, order ?? json({ id, status: 'queued' }));
  rig.provider.on(`/videos/${id}/content`, content ?? { answer: { type: 'video/mp4', body: mp4 } });
  rig.provider.on(`/videos/${id} `, ...(states ?? [queued, json({ id, status: 'completed' })]));
  return prompt;
}

/** A run that orders one video. */
async function order(user: Chatter, making?: Making) {
  const prompt = script(making);
  const outcome = await rig.runScript(user, calling('generateVideo', { prompt }));
  return { ...outcome, prompt, output: outcome.tools[0]?.output as Output };
}

async function videosIn(user: Chatter, threadId: string) {
  const parts = (await user.messages(threadId)).flatMap((message) => message.parts);
  return parts.flatMap((part) => (part.type === 'data-video' ? [part.data as Output] : []));
}

const grant = (user: Chatter, plan: Plan, credits: number) =>
  setPlanAndCredits(rig.media.database.queries<AccountTables>(), user.userId, plan, credits);
const submit = (user: Chatter, id: string, headers = {}) =>
  user.call('POST', `/video/submit/${id}`, undefined, headers);

describe.concurrent('a video', () => {
  it('is ordered, polled, stored, shown and paid for', async () => {
    const user = await rig.user('basic', 41);
    const { status, tools, answer, output, prompt, taskId } = await order(user);
    expect([status, await rig.credits(user)]).toEqual(['completed', 0]);
    expect(output).toMatchObject({ kind: 'video', status: 'completed', mime: 'video/mp4', taskId, attempt: 1 });
    const made = await rig.server.call<GenerationRecordPage>('GET', `/generations/all?taskId=${taskId}`);
    expect(made.body.generations).toMatchObject([{ kind: 'video', taskId, prompt, status: 'completed', credits: 40 }]);
    expect(output).not.toHaveProperty('failure');
    const bytes = Buffer.from(await (await fetch(String(output.url))).arrayBuffer());
    expect(bytes.equals(Buffer.concat([mp4, movieMark('ai')]))).toBe(true);
    const shown = answer?.parts.find(({ type }) => type === 'data-video');
    expect(shown).toMatchObject({ id: output.videoId, data: { videoId: output.videoId, status: 'completed' } });
    expect(tools).toHaveLength(1);
    const ordered = rig.provider.requests.find(({ body }) => Reflect.get(Object(body), 'prompt') === prompt);
    expect(ordered).toMatchObject({
      path: '/v1/videos',
      authorization: `Bearer ${providerKey}`,
      body: { model: 'a-maker', size: '1280x720' },
    });
    // Addresses are signed when they are sent: the log and the messages have the id.
    const log = await listEvents(rig.media.database.queries<AgentTables>(), taskId, 0, 100);
    expect(JSON.stringify(log)).toContain(output.assetId);
    expect(JSON.stringify(log)).not.toContain('http://');
    const { rows } = await sql<{ parts: string }>`
      select parts::text as parts from agent_messages where resource_id = ${user.userId}`.execute(
      rig.media.database.queries(),
    );
    expect(rows).toHaveLength(2);
    expect(rows.map(({ parts }) => parts).join()).not.toContain('http://');
  });

  it.each([
    ['refused at once', { order: json({ error: { message: 'too long' } }, 400) }, 'provider refused: too long'],
    ['failed', { states: [json({ id: 'x', status: 'failed', error: { message: 'blurred' } })] }, 'failed: blurred'],
    ['failed without a reason', { states: [json({ id: 'x', status: 'failed' })] }, 'failed: no reason given'],
    ['cancelled there', { states: [json({ id: 'x', status: 'cancelled', error: null })] }, 'failed: no reason given'],
    ['larger than is kept', { content: { answer: { type: 'video/mp4', body: Buffer.alloc(300_000) } } }, /./],
  ] satisfies readonly (readonly [string, Making, string | RegExp])[])(
    '%s: the tool returns a failure, the run continues, and the video is free',
    async (_title, making, message) => {
      const user = await rig.user('pro', 100);
      const { status, output, taskId } = await order(user, making);
      expect([status, await rig.credits(user)]).toEqual(['completed', 99]);
      expect(output).toMatchObject({ kind: 'video', assetId: null, url: null, status: 'failed' });
      expect(output.failure).toMatchObject({ code: 'rejected', retryable: false });
      expect(String(output.failure?.message)).toMatch(message);
      const { status: retried, body } = await submit(user, taskId);
      expect([retried, body.error]).toEqual([400, 'video_not_retryable']);
    },
  );

  it.each([
    ['401', { order: json({}, 401) }, 'The video provider returned 401.'],
    ['429', { order: json({}, 429) }, 'The video provider returned 429.'],
    ['500 to polls', { states: [refusal(500, { 'retry-after': '0' })] }, 'The video provider returned 500.'],
    ['garbage', { order: { answer: { body: 'nonsense' } } }, 'The video provider did not return a video.'],
    ['an empty clip', { content: { answer: { type: 'video/mp4', body: '' } } }, 'returned an empty video.'],
  ] satisfies readonly (readonly [string, Making, string])[])(
    'fails at the provider (%s): the tool returns a failure, the run continues, and the video is free',
    async (_title, making, reason) => {
      const user = await rig.user('pro', 100);
      const { status, output } = await order(user, making);
      expect(status).toBe('completed');
      const failure = { code: 'provider_failed', message: expect.stringContaining(reason), retryable: false };
      expect(output).toMatchObject({ status: 'failed', failure });
      expect(await rig.credits(user)).toBe(99);
    },
  );

  it('that fails at first is requested once: the next worker polls it', async () => {
    const user = await rig.user('pro', 100);
    const { status, output, prompt } = await order(user, {
      states: [json({}, 500), queued, json({ id: 'x', status: 'completed' })],
    });
    expect([status, output.status]).toEqual(['completed', 'completed']);
    const orders = rig.provider.requests.filter(({ body }) => Reflect.get(Object(body), 'prompt') === prompt);
    expect(orders).toHaveLength(1);
  });

  it('of a stopped run is neither generated nor paid for, but the run is', async ({ expect }) => {
    const user = await rig.user('pro', 100);
    const prompt = script({ states: [queued] });
    rig.provider.on('<stopped>', ...calling('generateVideo', { prompt }));
    const threadId = newThread();
    const taskId = await user.ask(threadId, '<stopped>');
    await expect.poll(() => rig.provider.requests.some(({ path }) => path.endsWith(prompt.slice(5)))).toBe(true);
    await user.call('DELETE', `/task/${taskId}`);
    expect((await user.ended(taskId)).status).toBe('aborted');
    expect(await videosIn(user, threadId)).toMatchObject([{ status: 'failed', failure: { code: 'aborted' } }]);
    expect(await rig.credits(user)).toBe(99);
    expect((await submit(user, taskId)).body.error).toBe('video_not_retryable');
  });
});

describe.concurrent('plans and credits', () => {
  it.each([
    ['free', 1000, 'insufficient_plan'],
    ['free', 5, 'insufficient_plan'],
    ['basic', 40, 'insufficient_credits'],
    ['pro', 1, 'insufficient_credits'],
    ['basic', 41, undefined],
    ['basic_year', 100, undefined],
    ['pro_year', 100, undefined],
    ['max', 100, undefined],
    ['max_year', 100, undefined],
  ] as const)('%s with %i: %s', async (plan, credits, code) => {
    const user = await rig.user(plan, credits);
    const { status, output } = await order(user);
    expect(status).toBe('completed');
    expect(output.status).toBe(code === undefined ? 'completed' : 'failed');
    expect(await rig.credits(user)).toBe(credits - (code === undefined ? 41 : 1));
    if (code === undefined) return;
    expect(output.failure).toMatchObject({ code, retryable: true });
    if (code === 'insufficient_credits') expect(output.failure).toMatchObject({ required: 40, balance: credits - 1 });
  });
});

describe.concurrent('POST /video/submit', () => {
  it('retries a video that can be paid now: 200, and the messages show it', async ({ expect }) => {
    const user = await rig.user('free', 10);
    const { taskId, threadId, output } = await order(user);
    expect(output.failure?.code).toBe('insufficient_plan');
    const before = await submit(user, taskId);
    expect([before.status, before.body.error]).toEqual([400, 'insufficient_plan']);
    await grant(user, 'pro', 30);
    const poor = await submit(user, taskId);
    expect([poor.status, poor.body]).toMatchObject([400, { error: 'insufficient_credits', required: 40, balance: 30 }]);
    expect(await videosIn(user, threadId)).toMatchObject([{ status: 'failed', attempt: 1 }]);
    await grant(user, 'pro', 50);
    const { status, body } = await submit(user, taskId);
    expect([status, body]).toEqual([200, { success: true }]);
    expect(await rig.credits(user)).toBe(10);
    const shown = async () => (await videosIn(user, threadId)).map((video) => [video.status, video.attempt]);
    await expect.poll(shown).toEqual([['completed', 2]]);
    const [video] = await videosIn(user, threadId);
    expect(video).not.toHaveProperty('failure');
    expect((await fetch(String(video?.url))).status).toBe(200);
    const [part] = (await user.messages(threadId)).flatMap(({ parts }) =>
      parts.filter(({ type }) => /^tool-/.test(type)),
    );
    expect(part?.output).toMatchObject({ status: 'completed', attempt: 2, url: expect.any(String) });
    const again = await submit(user, taskId);
    expect([again.status, again.body.error]).toEqual([400, 'video_not_retryable']);
    expect(await rig.credits(user)).toBe(10);
  });

  it('accepts the id of one video too, and needs no body', async () => {
    const user = await rig.user('free', 10);
    const { output } = await order(user);
    await grant(user, 'max', 100);
    expect((await submit(user, output.videoId)).status).toBe(200);
    expect(await rig.credits(user)).toBe(60);
  });

  it('retries the oldest affordable video', async () => {
    const user = await rig.user('free', 10);
    const prompts = [script(), script(), script()];
    const calls = prompts.map((prompt, index) => ({ id: `c${index}`, name: 'generateVideo', args: { prompt } }));
    const steps = calls.map((call) => ({ calls: [call] }));
    const { taskId, threadId } = await rig.runScript(user, [...steps, done]);
    await grant(user, 'pro', 85);
    expect((await submit(user, taskId)).status).toBe(200);
    expect(await rig.credits(user)).toBe(5);
    const attempts = (await videosIn(user, threadId)).map(({ attempt, failure }) => [attempt, failure?.code]);
    expect(attempts.map(([attempt]) => attempt)).toEqual([2, 2, 1]);
    expect(attempts[2]).toEqual([1, 'insufficient_plan']);
    await grant(user, 'pro', 40);
    expect((await submit(user, taskId)).status).toBe(200);
    expect(await rig.credits(user)).toBe(0);
  });

  it('retries once if it is requested twice at the same time', async () => {
    const user = await rig.user('free', 10);
    const { taskId } = await order(user);
    await grant(user, 'pro', 1000);
    const answers = await Promise.all(Array.from({ length: 5 }, () => submit(user, taskId)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400]);
    expect(await rig.credits(user)).toBe(960);
  });

  it.each([
    ['no credential', {}, 401],
    ['the internal key alone', { 'x-internal-key': 'an internal key' }, 401],
    ['a token that is none', { authorization: 'Bearer x' }, 401],
  ])('%s: %j is %i', async (_title, credential, expected) => {
    const { taskId } = await order(await rig.user('free', 10));
    const somebody = rig.at(rig.url, { userId: '', credential } as Chatter);
    const { status, body } = await submit(somebody, taskId);
    expect([status, body.error]).toEqual([expected, 'unauthorized']);
  });

  it('ignores the internal key next to a token, even a wrong one', async () => {
    const user = await rig.user('free', 10);
    const { taskId } = await order(user);
    for (const key of ['', 'wrong', rig.media.internalKey]) {
      const { status, body } = await submit(user, taskId, { 'x-internal-key': key });
      expect([status, body.error]).toEqual([400, 'insufficient_plan']);
    }
  });

  it('returns 404 for runs of other users and unknown runs', async () => {
    const { taskId, output } = await order(await rig.user('free', 10));
    const stranger = await rig.user('max', 1000);
    for (const id of [taskId, output.videoId, randomUUID(), 'nonsense', `${taskId}x`]) {
      const { status, body } = await submit(stranger, id);
      expect([id, status, body.error]).toEqual([id, 404, 'not_found']);
    }
    expect(await rig.credits(stranger)).toBe(1000);
  });

  it('returns 400 for a task without a video, with a completed one, or in progress', async () => {
    const user = await rig.user('pro', 1000);
    const { taskId } = await rig.runScript(user, [done]);
    const made = await order(user);
    rig.provider.on('<hanging>', { hang: true });
    const running = await user.ask(newThread(), '<hanging>');
    for (const id of [taskId, made.taskId, running]) {
      const { status, body } = await submit(user, id);
      expect([status, body.error]).toEqual([400, 'video_not_retryable']);
    }
    await user.call('DELETE', `/task/${running}`);
    await user.ended(running);
  });
});

describe('a clip of a provider', () => {
  const videoOf = async (from: ScriptedRig, user: Chatter, assetId: unknown) => {
    const client = from.media.client(user.credential);
    const { body } = await client.post<Record<string, object>>('/v1/sign/video', { refs: [assetId] });
    return body[String(assetId)];
  };

  it('is delivered without a poster if ffmpeg is not installed, and a log line names the reason', async () => {
    const user = await rig.user('pro', 100);
    const { output } = await order(user);
    expect(output).toMatchObject({ status: 'completed', assetId: expect.any(String) });
    expect(await videoOf(rig, user, output.assetId)).toMatchObject({ ready: true, thumbAssetId: null });
    const line = logged.find((text) => text.includes(String(output.assetId)));
    expect(line).toContain('could not add poster, size and duration to a clip');
    expect(line).toContain('ffmpeg is not installed');
  });

  it.skipIf(skipWithout('ffmpeg'))('gets a poster, its size and its duration', async () => {
    const examining = await startScripted();
    try {
      const user = await examining.user('pro', 100);
      examining.provider.on('a clip', json({ id: 'clip', status: 'queued' }));
      examining.provider.on('/videos/clip/content', { answer: { type: 'video/mp4', body: mp4 } });
      examining.provider.on('/videos/clip ', json({ id: 'clip', status: 'completed' }));
      const { tools } = await examining.runScript(user, calling('generateVideo', { prompt: 'a clip' }));
      const output = tools[0]?.output as Output;
      await expect
        .poll(() => videoOf(examining, user, output.assetId), { timeout: 60_000 })
        .toMatchObject({
          ready: true,
          thumbAssetId: expect.any(String),
          width: expect.any(Number),
          height: expect.any(Number),
          durationMs: expect.any(Number),
        });
    } finally {
      await examining.close();
    }
  });
});
