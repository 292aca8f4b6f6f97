/** Nothing is charged that was not delivered: every way in which a run ends, and what it costs. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LedgerTables } from '#accounts/ledger/credits.ts';
import type { AgentTables } from '#agent/tables.ts';
import { makeImage } from '../media/images.fixture.ts';
import { owedFor } from './ends.fixture.ts';
import type { ScriptedAnswer } from './provider.fixture.ts';
import { type Chatter, newThread } from './rig.fixture.ts';
import { imageAnswer, json, type ScriptedRig, startScripted } from './scripted.fixture.ts';
import { refusal, textStream } from './wire.fixture.ts';

const credits = 100;

/** How far a run is when it is stopped: the provider has been called, or its stream has shown an event of this type. */
type Reached = 'asked' | 'text-delta' | 'tool-output-available' | 'data-video';

interface End {
  readonly title: string;
  /** The answers of the model, in order. `call`: it calls the tool. */
  readonly model: readonly (ScriptedAnswer | 'call')[];
  readonly image?: ScriptedAnswer;
  readonly video?: { readonly order?: ScriptedAnswer; readonly state: 'completed' | 'failed' | 'processing' };
  readonly stoppedAt?: Reached;
  /** What becomes of the video after the run has ended. */
  readonly later?: 'completed' | 'failed';
  readonly status: string;
  readonly charged: number;
  /** Nothing was shown, so there is no answer. */
  readonly isSilent?: true;
}

const said: ScriptedAnswer = textStream('So be it.', 'stop', {
  prompt_tokens: 10,
  completion_tokens: 3,
  total_tokens: 13,
});
const lost: ScriptedAnswer = { answer: { type: 'text/event-stream', body: 'data: {' } };
const hang: ScriptedAnswer = { hang: true };
const words = `data: ${JSON.stringify({ id: '1', choices: [{ index: 0, delta: { content: 'So' } }] })}\n\n`;
const stalls: ScriptedAnswer = { answer: { type: 'text/event-stream', body: words, stall: true } };
const busy = refusal(503, { 'retry-after': '0' });

const texts: readonly End[] = [
  { title: 'completed', model: [said], status: 'completed', charged: 1 },
  { title: 'failed before the first word', model: [refusal(401)], status: 'failed', charged: 0, isSilent: true },
  { title: 'failed after the first word', model: [{ half: 'Half' }], status: 'failed', charged: 0 },
  { title: 'provider lost', model: [busy], status: 'failed', charged: 0, isSilent: true },
  { title: 'provider lost with a part of an event', model: [lost], status: 'failed', charged: 0, isSilent: true },
  {
    title: 'aborted before the first word',
    model: [hang],
    stoppedAt: 'asked',
    status: 'aborted',
    charged: 0,
    isSilent: true,
  },
  { title: 'aborted after the first word', model: [stalls], stoppedAt: 'text-delta', status: 'aborted', charged: 1 },
];

const images: readonly End[] = [
  { title: 'completed', model: ['call', said], status: 'completed', charged: 3 },
  { title: 'tool failed', model: ['call', said], image: refusal(400), status: 'completed', charged: 1 },
  { title: 'provider of images lost', model: ['call', said], image: busy, status: 'completed', charged: 1 },
  { title: 'model failed after the image', model: ['call', refusal(401)], status: 'failed', charged: 2 },
  {
    title: 'model and image failed',
    model: ['call', refusal(401)],
    image: refusal(400),
    status: 'failed',
    charged: 0,
  },
  {
    title: 'aborted while it is made',
    model: ['call'],
    image: hang,
    stoppedAt: 'asked',
    status: 'aborted',
    charged: 1,
  },
  {
    title: 'aborted after the image',
    model: ['call', hang],
    stoppedAt: 'tool-output-available',
    status: 'aborted',
    charged: 3,
  },
];

const videos: readonly End[] = [
  { title: 'completed', model: ['call', said], video: { state: 'completed' }, status: 'completed', charged: 41 },
  { title: 'tool failed', model: ['call', said], video: { state: 'failed' }, status: 'completed', charged: 1 },
  {
    title: 'order refused',
    model: ['call', said],
    video: { order: refusal(400), state: 'failed' },
    status: 'completed',
    charged: 1,
  },
  {
    title: 'provider of videos lost',
    model: ['call', said],
    video: { order: busy, state: 'failed' },
    status: 'completed',
    charged: 1,
  },
  {
    title: 'completed, and the video later',
    model: ['call', said],
    video: { state: 'processing' },
    later: 'completed',
    status: 'completed',
    charged: 41,
  },
  {
    title: 'completed, and the video failed later',
    model: ['call', said],
    video: { state: 'processing' },
    later: 'failed',
    status: 'completed',
    charged: 1,
  },
  {
    title: 'model failed, and the video completed later',
    model: ['call', refusal(401)],
    video: { state: 'processing' },
    later: 'completed',
    status: 'failed',
    charged: 40,
  },
  {
    title: 'aborted while it is made',
    model: ['call', hang],
    video: { state: 'processing' },
    stoppedAt: 'data-video',
    status: 'aborted',
    charged: 1,
  },
];

const killed: readonly End[] = [
  {
    title: 'text: before the first word',
    model: [hang],
    stoppedAt: 'asked',
    status: 'failed',
    charged: 0,
    isSilent: true,
  },
  { title: 'text: after the first word', model: [stalls], stoppedAt: 'text-delta', status: 'failed', charged: 0 },
  {
    title: 'image: while it is made',
    model: ['call'],
    image: hang,
    stoppedAt: 'asked',
    status: 'failed',
    charged: 0,
  },
  {
    title: 'image: after the image',
    model: ['call', hang],
    stoppedAt: 'tool-output-available',
    status: 'failed',
    charged: 2,
  },
  {
    title: 'video: it is made all the same',
    model: ['call', hang],
    video: { state: 'processing' },
    stoppedAt: 'data-video',
    later: 'completed',
    status: 'failed',
    charged: 40,
  },
];

let rig: ScriptedRig;
let png: Buffer;
let mp4: Buffer;
beforeAll(async () => {
  rig = await startScripted({
    changes: { pace: { idleMs: 100_000, videoWaitMs: 400 } },
    // A run whose process was killed then ends.
    settings: { continueRuns: false },
  });
  png = await makeImage('png');
  const { offlineVideos } = await import('#local/renderer/renderer.ts');
  const order = { prompt: 'a clip', ratio: '16:9', signal: new AbortController().signal };
  mp4 = Buffer.from((await offlineVideos.download(order)).bytes);
});
afterAll(() => rig.close());

interface Started {
  readonly end: End;
  readonly user: Chatter;
  readonly id: string;
  readonly threadId: string;
  readonly taskId: string;
}

/** Starts a run, and waits until it is as far as it shall be. */
async function start(end: End): Promise<Started> {
  const id = randomUUID();
  const user = await rig.user('pro', credits);
  const threadId = newThread();
  const name = end.video === undefined ? 'generateImage' : 'generateVideo';
  const call: ScriptedAnswer = { calls: [{ id: 'call_0', name, args: { prompt: `media ${id}` } }] };
  rig.provider.on(`question ${id}`, ...end.model.map((step) => (step === 'call' ? call : step)));
  rig.provider.on(
    `media ${id}`,
    (end.video === undefined ? end.image : end.video.order) ??
      (end.video === undefined ? imageAnswer(png) : json({ id, status: 'queued' })),
  );
  rig.provider.on(`/videos/${id}/content`, { answer: { type: 'video/mp4', body: mp4 } });
  if (end.video !== undefined) scriptVideo(id, end.video.state);
  const taskId = await user.ask(threadId, `question ${id}`);
  if (end.stoppedAt !== undefined) await reach(user, taskId, id, end);
  return { end, user, id, threadId, taskId };
}

const scriptVideo = (id: string, status: string) =>
  rig.provider.on(`/videos/${id} `, json({ id, status, error: { message: 'blurred' } }));

async function reach(user: Chatter, taskId: string, id: string, { stoppedAt, image: drawn }: End): Promise<void> {
  if (stoppedAt === 'asked') {
    const prompt = drawn === undefined ? `question ${id}` : `media ${id}`;
    const isAsked = () => rig.provider.requests.some(({ path, body }) => isCall(path, drawn) && has(body, prompt));
    return until(isAsked);
  }
  const { promise, resolve } = Promise.withResolvers<void>();
  void user.stream(taskId, { onEvent: ({ data }) => data.type === stoppedAt && resolve() });
  await promise;
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(30);
}

const isCall = (path: string, drawn: ScriptedAnswer | undefined) =>
  path.endsWith(drawn === undefined ? '/chat/completions' : '/images/generations');
const has = (body: unknown, text: string) => JSON.stringify(body).includes(text);

async function expectCharged({ end, user, id, threadId, taskId }: Started, ofTest = expect): Promise<void> {
  const { status } = await user.ended(taskId);
  expect(status).toBe(end.status);
  if (end.later !== undefined) scriptVideo(id, end.later);
  const ledger = () =>
    rig.media.database
      .queries<LedgerTables>()
      .selectFrom('credit_ledger')
      .select(['state', 'amount'])
      .where('user_id', '=', user.userId)
      .execute();
  await until(async () => (await ledger()).every(({ state }) => state !== 'reserved'));
  const look = async () => {
    const settled = (await ledger()).reduce((sum, { state, amount }) => sum + (state === 'settled' ? amount : 0), 0);
    const answer = (await user.messages(threadId)).find(({ metadata }) => metadata.taskId === taskId);
    const { body } = await user.call<{ days: { credits: number; runs: number }[] }>('GET', '/usage');
    return {
      settled,
      left: await rig.credits(user),
      owed: await owedFor(user, [threadId]),
      answer: answer === undefined ? undefined : [answer.metadata.status, answer.metadata.credits],
      usage: body.days.map(({ runs, credits: used }) => [runs, used]),
    };
  };
  // A video is charged when it is stored, and counted a moment later.
  await ofTest.poll(look, { timeout: 30_000 }).toEqual({
    settled: end.charged,
    left: credits - end.charged,
    owed: end.charged,
    answer: end.isSilent ? undefined : [end.status, end.charged],
    usage: [[1, end.charged]],
  });
}

describe.each([
  ['a text', texts],
  ['an image', images],
  ['a video', videos],
] satisfies readonly (readonly [string, readonly End[]])[])('a run with %s', (_title, ends) => {
  it.concurrent.for(ends)('$title: $charged', { timeout: 120_000 }, async (end, { expect: ofTest }) => {
    const started = await start(end);
    if (end.stoppedAt !== undefined) await started.user.call('DELETE', `/task/${started.taskId}`);
    await expectCharged(started, ofTest);
  });
});

it('a message that is dropped: its unfinished video is free, and that of an earlier message is made', async () => {
  const user = await rig.user('pro', credits);
  const threadId = newThread();
  const ids = [randomUUID(), randomUUID()];
  for (const id of ids) {
    const call: ScriptedAnswer = { calls: [{ id: 'call_0', name: 'generateVideo', args: { prompt: `media ${id}` } }] };
    rig.provider.on(`question ${id}`, call, said);
    rig.provider.on(`media ${id}`, json({ id, status: 'queued' }));
    rig.provider.on(`/videos/${id}/content`, { answer: { type: 'video/mp4', body: mp4 } });
    scriptVideo(id, 'processing');
    await user.ended(await user.ask(threadId, `question ${id}`));
  }
  expect(await rig.credits(user)).toBe(credits - 82);
  const rewindTo = (await user.messages(threadId)).at(-2)?.id;
  rig.provider.on('Never mind.', said);
  const { body } = await user.call('POST', '/task', { threadId, text: 'Never mind.', rewindTo });
  await user.ended(String(body.taskId));
  expect(await rig.credits(user)).toBe(credits - 43);
  for (const id of ids) scriptVideo(id, 'completed');
  // The thread shows two runs and the first video; the dropped run stays paid.
  await until(async () => (await owedFor(user, [threadId])) === 42);
  expect(await rig.credits(user)).toBe(credits - 43);
});

describe('a run whose process was killed', () => {
  const runs = new Map<End, Started>();

  beforeAll(async () => {
    for (const end of killed) runs.set(end, await start(end));
    // Another process takes the runs over, and dies: this one can write no more of them, and their leases run out.
    await rig.media.database
      .queries<AgentTables>()
      .updateTable('agent_runs')
      .set((eb) => ({ holder: randomUUID(), fence: eb('fence', '+', 1), lease_expires_at: sql<Date>`now()` }))
      .where('status', '=', 'running')
      .execute();
  }, 120_000);

  it.each(killed)('$title: $charged', { timeout: 120_000 }, async (end) => {
    const started = runs.get(end);
    if (started === undefined) throw new Error('the run was not started');
    await expectCharged(started);
  });
});
