/** What the model of a run, and MCP clients, can choose for images and videos (docs/specification/agent.md#tools). */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { offlineVideos } from '#local/renderer/renderer.ts';
import { type Chatter, newThread } from '../../../test/agent/rig.fixture.ts';
import { calling, type Outcome, type ScriptedRig, startScripted } from '../../../test/agent/scripted.fixture.ts';
import { makeImage } from '../../../test/media/images.fixture.ts';
import { imageModel, videoModel } from '../generation/catalogue.ts';
import type { UsageTotals } from '../operatorapi.ts';

const paid = ['pro', 'max'] as const;
const tokens = { prompt_tokens: 1_000_000, completion_tokens: 500_000, total_tokens: 1_500_000 };

let seed = 0;
const make = async () => ({ bytes: await makeImage('png', { seed: ++seed }), mime: 'image/png' });
const images = { generate: make, edit: make };

let rig: ScriptedRig;
beforeAll(async () => {
  rig = await startScripted({
    changes: {
      catalogue: {
        images: [
          imageModel(images, { id: 'draft', credits: 1, maxCount: 4 }),
          imageModel(images, { id: 'final', label: 'Final', credits: 5, plans: paid, costUsd: 0.04 }),
          imageModel(images, { id: 'square', credits: 0, ratios: ['1:1'], maxReferences: 1 }),
        ],
        videos: [
          videoModel(offlineVideos, { id: 'clip', credits: 30, plans: paid, durations: [4, 8] }),
          videoModel(offlineVideos, { id: 'film', credits: 60, plans: ['max'], costUsd: 0.5 }),
        ],
      },
    },
    file: (baseUrl) => [{ id: 'a-model', baseUrl, model: 'a-model', costUsd: { input: 2, output: 10 } }],
  });
});
afterAll(() => rig.close());

interface Output {
  readonly status: string;
  readonly assetId: string | null;
  readonly assetIds?: readonly string[];
  readonly images?: readonly { readonly assetId: string; readonly url: string }[];
  readonly failure?: { readonly code: string; readonly message: string };
}
const outputOf = (tools: Outcome['tools']) => tools[0]?.output as Output;
const rowOf = async (user: Chatter, assetId: string | null) =>
  (await rig.media.client(user.credential).get<{ generation: Record<string, unknown> }>(`/v1/assets/${assetId}`)).body;

describe('the tools of a run', () => {
  it('name the models of the plan, with labels and prices', async () => {
    const toolsFor = async (plan: 'free' | 'pro') => {
      const question = `offers for ${plan}`;
      rig.provider.on(question, { text: 'Fine.' });
      await rig.runText(await rig.user(plan, 100), newThread(), question);
      const { body } = rig.provider.requests.findLast((one) => JSON.stringify(one.body).includes(question)) ?? {};
      const { tools } = body as { tools: { function: { name: string; description: string } }[] };
      return Object.fromEntries(tools.map(({ function: { name, description } }) => [name, description]));
    };
    const [free, pro] = [await toolsFor('free'), await toolsFor('pro')];
    expect(free.generateImage).toContain('draft (1 credits), square (0 credits).');
    expect(pro.editImage).toContain('draft (1 credits), final (Final, 5 credits), square (0 credits).');
    expect(pro.generateVideo).toContain('clip (30 credits).');
    expect(free.generateVideo).toContain("The user's plan includes none of its models.");
  });

  it('make several images with a model, from images of the conversation, each with its lineage', async () => {
    const user = await rig.user('pro', 100);
    const first = await rig.runScript(user, calling('generateImage', { prompt: 'a boat', model: 'final', n: 3 }));
    expect(outputOf(first.tools).failure).toBeUndefined();
    const { status, assetIds = [], images: shown = [] } = outputOf(first.tools);
    expect([status, assetIds.length, await rig.credits(user)]).toEqual(['completed', 3, 100 - 15 - 1]);
    for (const { url } of shown) expect((await fetch(url)).status).toBe(200);
    const references = [`asset:${assetIds[0]}`, assetIds[1]];
    const call = calling('generateImage', { prompt: 'together', references, ratio: '4:3' });
    const { tools, taskId } = await rig.runScript(user, call, first.threadId);
    const { generation } = await rowOf(user, outputOf(tools).assetId);
    const lineage = { taskId, prompt: 'together', model: 'draft', ratio: '4:3', references: assetIds.slice(0, 2) };
    expect(generation).toEqual(lineage);
    const film = calling('generateVideo', { prompt: 'it sails', firstFrame: assetIds[2], duration: 8 });
    const { tools: filmed } = await rig.runScript(user, film, first.threadId);
    expect((await rowOf(user, outputOf(filmed).assetId)).generation).toMatchObject({ references: [assetIds[2]] });
  });

  it.each([
    ['another plan', 'generateImage', { model: 'final' }, 'insufficient_plan'],
    ['a model that does not exist', 'generateImage', { model: 'none' }, 'unknown_model'],
    ['too many images', 'generateImage', { n: 5 }, 'unsupported'],
    ['a ratio that the model lacks', 'generateImage', { model: 'square', ratio: '16:9' }, 'unsupported'],
    ['images of other conversations', 'generateImage', { references: [randomUUID()] }, 'no_source'],
    ['a first frame of another conversation', 'generateVideo', { firstFrame: randomUUID() }, 'no_source'],
    ['more than there are credits', 'generateImage', { n: 4 }, 'insufficient_credits'],
    ['a video of another plan', 'generateVideo', {}, 'insufficient_plan'],
  ])('refuse %s, free of charge', async (_what, tool, input, code) => {
    const user = await rig.user('free', 4);
    const { status, tools } = await rig.runScript(user, calling(tool, { prompt: 'never made', ...input }));
    expect([status, outputOf(tools).failure?.code, await rig.credits(user)]).toEqual(['completed', code, 3]);
  });

  it('use the defaults of the run, from POST /task and POST /chat', async () => {
    const user = await rig.user('pro', 100);
    const media = { imageModel: 'final', ratio: '9:16' };
    const question = `defaults ${randomUUID()}`;
    rig.provider.on(question, ...calling('generateImage', { prompt: 'tall' }));
    const threadId = newThread();
    const { body } = await user.call('POST', '/task', { threadId, text: question, media });
    await user.ended(String(body.taskId));
    const made = outputOf(
      (await user.messages(threadId))[1]?.parts.filter(({ type }) => type.startsWith('tool-')) ?? [],
    );
    expect((await rowOf(user, made.assetId)).generation).toMatchObject({ model: 'final', ratio: '9:16' });

    const chatted = `chatted ${randomUUID()}`;
    rig.provider.on(chatted, ...calling('generateImage', { prompt: 'small' }));
    const message = { id: randomUUID(), role: 'user', parts: [{ type: 'text', text: chatted }] };
    const chat = { id: newThread(), messages: [message], trigger: 'submit-message', media: { imageModel: 'square' } };
    const response = await fetch(`${rig.url}/chat`, {
      method: 'POST',
      headers: { ...user.credential, 'content-type': 'application/json' },
      body: JSON.stringify(chat),
    });
    await response.text();
    const answer = (await user.messages(chat.id))[1];
    const other = outputOf(answer?.parts.filter(({ type }) => type.startsWith('tool-')) ?? []);
    expect((await rowOf(user, other.assetId)).generation).toMatchObject({ model: 'square' });

    for (const [field, wrong] of [
      ['body.media.imageModel', { imageModel: 'clip' }],
      ['body.media.videoModel', { videoModel: 'none' }],
      ['body.media.count', { count: 5 }],
      ['body.media.ratio', { imageModel: 'square', videoModel: 'clip', ratio: '2:1' }],
    ] as const) {
      const refused = await user.call('POST', '/task', { threadId: newThread(), text: 'hi', media: wrong });
      expect([refused.status, JSON.stringify(refused.body)]).toEqual([400, expect.stringContaining(field)]);
    }
  });

  it('make as many images as the run sets, unless the call names a number', async () => {
    const user = await rig.user('pro', 100);
    const made = async (input: object) => {
      const question = `count ${randomUUID()}`;
      rig.provider.on(question, ...calling('generateImage', { prompt: 'several', ...input }));
      const threadId = newThread();
      const start = { threadId, text: question, media: { count: 2 } };
      const { body } = await user.call('POST', '/task', start);
      await user.ended(String(body.taskId));
      const parts = (await user.messages(threadId))[1]?.parts.filter(({ type }) => type.startsWith('tool-')) ?? [];
      return outputOf(parts).assetIds?.length ?? 1;
    };
    expect([await made({}), await made({ n: 1 })]).toEqual([2, 1]);
  });

  it('come with the instructions of a server, which users cannot give', async () => {
    const user = await rig.user('pro', 100);
    const secret = `Speak like a captain ${randomUUID()}.`;
    const asked = async (caller: Chatter, body: object) => {
      const text = `who are you ${randomUUID()}`;
      rig.provider.on(text, { text: 'Fine.' });
      const threadId = newThread();
      const started = await caller.call('POST', '/task', { threadId, text, instructions: secret, ...body });
      await user.ended(String(started.body.taskId));
      const request = rig.provider.requests.findLast((one) => JSON.stringify(one.body).includes(text));
      return [
        JSON.stringify(request?.body).includes(secret),
        JSON.stringify(await user.messages(threadId)).includes(secret),
      ];
    };
    expect(await asked(rig.server, { userId: user.userId })).toEqual([true, false]);
    expect(await asked(user, {})).toEqual([false, false]);
    const long = { threadId: newThread(), text: 'hi', userId: user.userId, instructions: 'x'.repeat(8001) };
    const refused = await rig.server.call('POST', '/task', long);
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([400, expect.stringContaining('body.instructions')]);
  });
});

describe('costs', () => {
  it('stand beside credits in the totals, to the cent', async () => {
    const totals = async () =>
      (await rig.server.call<UsageTotals>('GET', '/usage/totals')).body.days
        .filter(({ plan }) => plan === 'max')
        .reduce((sum, { costUsd }) => sum + costUsd, 0);
    const user = await rig.user('max', 1000);
    const usage = `counted ${randomUUID()}`;
    const chunk = (delta: object, rest: object) =>
      `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta, ...rest }] })}\n\n`;
    const counted = `data: ${JSON.stringify({ id: 'c', choices: [], usage: tokens })}\n\n`;
    const body = `${chunk({ content: 'Fine.' }, {})}${chunk({}, { finish_reason: 'stop' })}${counted}data: [DONE]\n\n`;
    rig.provider.on(usage, { answer: { type: 'text/event-stream', body } });
    await rig.runText(user, newThread(), usage);
    expect(await totals()).toBeCloseTo(2 + 5, 6);

    await rig.runScript(user, calling('generateImage', { prompt: 'a boat', model: 'final', n: 3 }));
    await rig.runScript(user, calling('generateVideo', { prompt: 'a boat', model: 'film' }));
    const spent = 7 + 3 * 0.04 + 0.5;
    await expect.poll(totals, { timeout: 20_000 }).toBeCloseTo(spent, 6);

    const ordered = await user.call('POST', '/images', { prompt: 'x', model: 'final', n: 2 }, { prefer: 'wait=60' });
    expect(ordered.status).toBe(201);
    expect(await totals()).toBeCloseTo(spent + 2 * 0.04, 6);
    const { body: month } = await rig.server.call<{ users: { userId: string; costUsd: number }[] }>(
      'GET',
      '/usage/users',
    );
    expect(month.users.find(({ userId }) => userId === user.userId)?.costUsd).toBeCloseTo(spent + 2 * 0.04, 6);
    const path = `/usage/users/${user.userId}`;
    const { days } = (await rig.server.call<{ days: { costUsd: number }[] }>('GET', path)).body;
    expect(days.reduce((sum, { costUsd }) => sum + costUsd, 0)).toBeCloseTo(spent + 2 * 0.04, 6);
    // Users do not see what operators pay.
    expect((await user.call('GET', path)).status).toBe(403);
    expect(JSON.stringify((await user.call('GET', '/usage')).body)).not.toContain('cost');
  });

  it('do not count what is not delivered', async () => {
    const user = await rig.user('pro', 100);
    const ordered = await user.call('POST', '/images', { prompt: 'x', model: 'final', references: [] });
    await user.call('DELETE', `/generations/${ordered.body.id}`);
    const read = async () => (await user.call('GET', `/generations/${ordered.body.id}`)).body;
    await expect.poll(async () => (await read()).status).not.toBe('running');
    const { credits } = await read();
    const { body } = await rig.server.call<{ users: { userId: string; costUsd: number }[] }>('GET', '/usage/users');
    const cost = body.users.find(({ userId }) => userId === user.userId)?.costUsd ?? 0;
    expect(cost).toBeCloseTo(credits === 0 ? 0 : 0.04, 6);
  });
});
