/** The parameters that need a catalogue, over MCP (docs/specification/agent.md#mcp-server). */

import { randomUUID } from 'node:crypto';
import * as v2 from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Chatter } from '../../../test/agent/rig.fixture.ts';
import { imageAnswer, json, type ScriptedRig, startScripted } from '../../../test/agent/scripted.fixture.ts';
import { makeImage } from '../../../test/media/images.fixture.ts';
import { upload } from '../../../test/media/rig.fixture.ts';
import { imageModel, videoModel } from '../generation/catalogue.ts';
import { openImageProvider, openVideoProvider } from '../providers/openaimedia.ts';

let rig: ScriptedRig;
let url: string;
beforeAll(async () => {
  rig = await startScripted({ changes: { pace: { videoWaitMs: 200 } } });
  const settings = { url: rig.provider.url, apiKey: 'k', name: 'a-maker' };
  const images = openImageProvider(settings);
  const videos = openVideoProvider(settings, 20);
  const catalogue = {
    images: [
      imageModel(images, { id: 'plain' }),
      imageModel(images, { id: 'fine', credits: 3, maxCount: 2, maxReferences: 1 }),
      imageModel(images, { id: 'dear', plans: ['max'] }),
    ],
    videos: [videoModel(videos, { id: 'film' }), videoModel(videos, { id: 'short', credits: 7, durations: [4, 8] })],
  } as const;
  ({ url } = await rig.another({ catalogue }));
});
afterAll(() => rig.close());

async function call(user: Chatter, name: string, input: Record<string, unknown>) {
  const client = new v2.Client({ name: 'desktop', version: '2' });
  const requestInit = { headers: { ...user.credential } };
  await client.connect(new v2.StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  const { structuredContent, content } = await client.callTool({ name, arguments: input });
  await client.close();
  return { data: Object(structuredContent) as Record<string, unknown>, text: JSON.stringify(content) };
}
const sent = (prompt: string) => rig.provider.requests.filter(({ body }) => JSON.stringify(body).includes(prompt));
let seed = 7000;
const newImage = () => makeImage('png', { seed: ++seed });
async function uploaded(user: Chatter): Promise<string> {
  const mine = rig.media.client(user.credential);
  const { registration, assetId } = await upload(mine, await newImage());
  expect((await mine.register(registration)).status).toBe(201);
  return assetId;
}

describe('generate_image and edit_image', () => {
  it('make several images with the model of the call, from a reference', async () => {
    const user = await rig.user('pro', 100);
    const prompt = `two of ${randomUUID()}`;
    rig.provider.on(prompt, imageAnswer(await newImage()), imageAnswer(await newImage()));
    const reference = await uploaded(user);
    const order = { prompt, model: 'fine', n: 2, references: [reference] };
    const { data } = await call(user, 'generate_image', order);
    expect(data).toMatchObject({ status: 'completed', credits: 6, images: [{}, {}] });
    expect([await rig.credits(user), sent(prompt).map(({ path }) => path)]).toEqual([
      94,
      ['/v1/images/edits', '/v1/images/edits'],
    ]);
    const { body } = await rig.media
      .client(user.credential)
      .get<{ generation: object }>(`/v1/assets/${String(data.assetId)}`);
    expect(body.generation).toMatchObject({ prompt, model: 'fine', references: [reference] });
  });

  it.each([
    ['too many images', { model: 'fine', n: 3 }, 'unsupported', 'n must be at most 2'],
    ['too many references', { model: 'fine', references: [randomUUID(), randomUUID()] }, 'unsupported', 'references'],
    ['an unknown model', { model: 'none' }, 'unknown_model', 'plain, fine, dear'],
    ['a model of a larger plan', { model: 'dear' }, 'insufficient_plan', 'plan'],
    ['a reference that does not exist', { references: [randomUUID()] }, 'no_source', 'list_assets'],
  ])('refuse %s, for free', async (_title, order, code, message) => {
    const user = await rig.user('pro', 100);
    const prompt = `refused ${randomUUID()}`;
    const { data, text } = await call(user, 'generate_image', { prompt, ...order });
    expect([data.error, await rig.credits(user), sent(prompt)]).toEqual([code, 100, []]);
    expect(text).toContain(message);
  });

  it('refuse the reference of another user', async () => {
    const [user, other] = [await rig.user('pro', 100), await rig.user('pro', 100)];
    const references = [await uploaded(other)];
    const { data } = await call(user, 'edit_image', { prompt: 'x', assetId: await uploaded(user), references });
    expect([data.error, await rig.credits(user)]).toEqual(['no_source', 100]);
  });
});

describe('generate_video', () => {
  it('films a first frame for some seconds, with the model of the call', async () => {
    const user = await rig.user('pro', 100);
    const prompt = `film of ${randomUUID()}`;
    rig.provider.on(prompt, json({ id: 'video_models', status: 'queued' }));
    rig.provider.on('/videos/video_models', json({ id: 'video_models', status: 'in_progress' }));
    const order = { prompt, model: 'short', duration: 8, firstFrame: await uploaded(user) };
    const { data } = await call(user, 'generate_video', order);
    expect([data.status, data.credits, await rig.credits(user)]).toEqual(['processing', 7, 93]);
    await expect.poll(() => sent(prompt)).toHaveLength(1);
    const [request] = sent(prompt);
    expect(String(request?.body)).toMatch(/name="seconds"\r\n\r\n8/);
    expect(String(request?.body)).toContain('name="input_reference"');
  });

  it.each([
    ['other seconds', { model: 'short', duration: 5 }, 'unsupported', '4, 8'],
    ['an unknown model', { model: 'none' }, 'unknown_model', 'film, short'],
    ['a first frame that does not exist', { firstFrame: randomUUID() }, 'no_source', 'list_assets'],
  ])('refuses %s, for free', async (_title, order, code, message) => {
    const user = await rig.user('pro', 100);
    const prompt = `refused film ${randomUUID()}`;
    const { data, text } = await call(user, 'generate_video', { prompt, ...order });
    expect([data.error, await rig.credits(user), sent(prompt)]).toEqual([code, 100, []]);
    expect(text).toContain(message);
  });
});
