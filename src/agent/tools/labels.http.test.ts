/** Generated media that a rule about labels blocks: an error of the tool or of the item, and free. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { calling, imageAnswer, json, type ScriptedRig, startScripted } from '../../../test/agent/scripted.fixture.ts';
import { says, startClassifier, type TestClassifier } from '../../../test/media/classifier.fixture.ts';
import { makeImage } from '../../../test/media/images.fixture.ts';
import { skipWithout } from '../../../test/programs.fixture.ts';

let rig: ScriptedRig;
let classifier: TestClassifier;
beforeAll(async () => {
  classifier = await startClassifier();
  classifier.answer = says({ match: false, labels: [{ name: 'nudity', score: 0.97 }] });
  const screeningRules = [{ label: 'nudity', minScore: 0.9, action: 'block' }] as const;
  rig = await startScripted({ screening: { screeningUrl: classifier.url, screeningRules } });
});
afterAll(async () => {
  await rig.close();
  await classifier.close();
});

const failure = { code: 'rejected', message: expect.stringContaining('nudity'), retryable: false };

it('an image of a run', async () => {
  const [user, prompt] = [await rig.user('pro', 100), `image ${randomUUID()}`];
  rig.provider.on(prompt, imageAnswer(await makeImage('png', { seed: 1 })));
  const { status, tools } = await rig.runScript(user, calling('generateImage', { prompt }));
  expect(status).toBe('completed');
  expect(tools[0]?.output).toMatchObject({ assetId: null, status: 'failed', failure });
  expect(JSON.stringify(tools)).not.toMatch(/csam|prohibited/i);
  expect(await rig.credits(user)).toBe(99);
});

it('an image of POST /images', async () => {
  const [user, prompt] = [await rig.user('pro', 100), `image ${randomUUID()}`];
  rig.provider.on(prompt, imageAnswer(await makeImage('png', { seed: 2 })));
  const { body } = await user.call('POST', '/images', { prompt }, { prefer: 'wait=60' });
  expect(body).toMatchObject({ status: 'failed', items: [{ status: 'failed', failure }] });
  expect(await rig.credits(user)).toBe(100);
});

it.skipIf(skipWithout('ffmpeg'))('a video, before it is stored', async () => {
  const [user, id] = [await rig.user('pro', 100), `v${randomUUID()}`];
  const { offlineVideos } = await import('#local/renderer/renderer.ts');
  const clip = await offlineVideos.download({ prompt: 'a', ratio: '16:9', signal: AbortSignal.timeout(60_000) });
  rig.provider.on(`clip ${id}`, json({ id, status: 'queued' }));
  rig.provider.on(`/videos/${id}/content`, { answer: { type: 'video/mp4', body: Buffer.from(clip.bytes) } });
  rig.provider.on(`/videos/${id} `, json({ id, status: 'completed' }));
  const { tools } = await rig.runScript(user, calling('generateVideo', { prompt: `clip ${id}` }));
  expect(tools[0]?.output).toMatchObject({ assetId: null, status: 'failed', failure });
  expect(await rig.credits(user)).toBe(99);
});
