/** Media in streams: signed for each reader, as in messages, and stored without URLs. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { withMark } from '#platform/metadata/metadata.ts';
import { calling, imageAnswer, type ScriptedRig, startScripted } from '../../../test/agent/scripted.fixture.ts';
import { makeImage } from '../../../test/media/images.fixture.ts';

let rig: ScriptedRig;
let bytes: Buffer;
beforeAll(async () => {
  rig = await startScripted();
  bytes = await makeImage('png');
  rig.provider.on('a bee', imageAnswer(bytes));
});
afterAll(() => rig.close());

interface Output {
  readonly assetId: string;
  readonly url: string | null;
}

const outputIn = (text: string): Output => {
  const line = text.split('\n').find((each) => each.includes('"tool-output-available"')) ?? '';
  return JSON.parse(line.replace('data: ', '')).output;
};

it('has the URLs that messages have, for each reader, also one that resumes', async () => {
  const user = await rig.user('pro', 100);
  const { taskId, threadId } = await rig.runScript(user, calling('generateImage', { prompt: 'a bee' }));
  const read = async (headers: Record<string, string> = {}) => {
    const answer = await fetch(`${rig.url}/stream/${taskId}`, { headers: { ...user.credential, ...headers } });
    return answer.text();
  };
  const whole = await read();
  const live = outputIn(whole);
  expect(live).toMatchObject({ kind: 'image', status: 'completed', mime: 'image/png', thumbUrl: expect.any(String) });
  const file = await fetch(String(live.url));
  expect(Buffer.from(await file.arrayBuffer())).toEqual(Buffer.from(withMark(bytes, 'ai')));

  const stored = (await user.messages(threadId)).flatMap(({ parts }) => parts).find((part) => 'output' in part);
  expect(Object.keys(live).sort()).toEqual(Object.keys(Object(Reflect.get(Object(stored), 'output'))).sort());

  const [, firstId = ''] = /^id: (\S+)/.exec(whole) ?? [];
  const resumed = await read({ 'last-event-id': firstId });
  const withoutUrls = (text: string) => text.replaceAll(/"(url|thumbUrl)":"[^"]*"/g, '');
  expect(withoutUrls(whole)).toBe(withoutUrls(whole.slice(0, whole.indexOf('\n\n') + 2) + resumed));
  expect((await fetch(String(outputIn(resumed).url))).status).toBe(200);
});

it('has no URL of an asset that was deleted', async () => {
  const user = await rig.user('pro', 100);
  const { taskId } = await rig.runScript(user, calling('generateImage', { prompt: 'a bee' }));
  const read = async () =>
    outputIn(await (await fetch(`${rig.url}/stream/${taskId}`, { headers: user.credential })).text());
  const { assetId, url } = await read();
  expect(url).toEqual(expect.any(String));
  await rig.media.client(user.credential).delete('/v1/assets', { ids: [assetId] });
  expect(await read()).toMatchObject({ assetId, url: null });
});
