/** A process hands over a run while it makes several images for one call (docs/specification/agent.md#runs-that-continue). */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newThread, testSettings } from '../../../test/agent/rig.fixture.ts';
import { calling, imageAnswer, type ScriptedRig, startScripted } from '../../../test/agent/scripted.fixture.ts';
import { makeImage } from '../../../test/media/images.fixture.ts';

let rig: ScriptedRig;
beforeAll(async () => {
  rig = await startScripted();
});
afterAll(() => rig.close());

it.each([2, 0])('keeps what was delivered, and orders nothing again: %i of three images', async (delivered) => {
  const user = await rig.user('pro', 100);
  const [word, prompt] = [`<run ${randomUUID()}>`, `three bees ${randomUUID()}`];
  const images = await Promise.all(Array.from({ length: delivered }, (_, seed) => makeImage('png', { seed })));
  rig.provider.on(prompt, ...images.map(imageAnswer), { hang: true });
  rig.provider.on(word, ...calling('generateImage', { prompt, n: 3 }));
  const other = await rig.another({ settings: { ...testSettings, drainS: 0 }, pace: {} });
  const threadId = newThread();
  const taskId = await rig.at(other.url, user).ask(threadId, word);
  const orders = () => rig.provider.requests.filter(({ body }) => Reflect.get(Object(body), 'prompt') === prompt);
  const library = async () =>
    (await rig.media.client(user.credential).get<{ assets: { assetId: string }[] }>('/v1/assets')).body.assets;
  await expect.poll(async () => [orders().length, (await library()).length]).toEqual([3, delivered]);
  expect(await rig.credits(user)).toBe(93);
  // Whatever is ordered again fails.
  rig.provider.on(prompt, { answer: { status: 401 } });
  await other.drain();
  expect(await user.ended(taskId)).toMatchObject({ status: 'completed', error: null });
  const [, answer] = await user.messages(threadId);
  const tools = (answer?.parts ?? []).filter(({ type }) => type === 'tool-generateImage');
  const assetIds = (await library()).map(({ assetId }) => assetId).sort();
  const outputs = tools.map(({ output }) => Object(output) as { status: string; assetIds?: string[] });
  // Without any image, nothing came of the call, and the model goes on without it.
  expect(outputs.map((output) => [output.status, output.assetIds?.toSorted()])).toEqual(
    delivered === 0 ? [] : [['completed', assetIds]],
  );
  expect([await rig.credits(user), orders().length]).toEqual([99 - 2 * delivered, 3]);
});
