import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withMark } from '#platform/metadata/metadata.ts';
import type { ScriptedAnswer } from '../../../test/agent/provider.fixture.ts';
import type { Chatter } from '../../../test/agent/rig.fixture.ts';
import {
  calling,
  imageAnswer,
  impatient,
  json,
  providerKey,
  type ScriptedRig,
  startScripted,
} from '../../../test/agent/scripted.fixture.ts';
import { makeImage, padPng } from '../../../test/media/images.fixture.ts';
import { digestOf, type Lists, openLists } from '../../../test/media/lists.fixture.ts';
import { testLimits, upload } from '../../../test/media/rig.fixture.ts';

let rig: ScriptedRig;
let lists: Lists;
beforeAll(async () => {
  lists = await openLists();
  rig = await startScripted({ screening: { blockedHashes: lists.folder }, ...impatient });
});
afterAll(async () => {
  await rig.close();
  await lists.close();
});

let seed = 0;
const newImage = () => makeImage('png', { seed: ++seed });
const withImage = async () => imageAnswer(await newImage());

/** A run that makes one image with this response of the provider; returns its cost too. */
async function make(reply: ScriptedAnswer, earlier?: { readonly maker: Chatter; readonly threadId: string }) {
  const prompt = `image ${randomUUID()}`;
  rig.provider.on(prompt, reply);
  const maker = earlier?.maker ?? (await rig.user('pro', 1000));
  const before = await rig.credits(maker);
  const call = calling(earlier === undefined ? 'generateImage' : 'editImage', { prompt });
  const outcome = await rig.runScript(maker, call, earlier?.threadId);
  const output = outcome.tools[0]?.output as Record<string, unknown> | undefined;
  return { ...outcome, prompt, maker, output, cost: before - (await rig.credits(maker)) };
}

describe.concurrent('an image that is made', () => {
  it.each([
    ['png', 'image/png'],
    ['jpeg', 'image/jpeg'],
    ['webp', 'image/webp'],
    // What it is the media service finds out.
    ['gif', 'image/gif'],
  ] as const)('in %s', async (format, mime) => {
    const bytes = await makeImage(format, { seed: ++seed });
    const { status, output, cost, prompt } = await make(imageAnswer(bytes));
    expect([status, cost]).toEqual(['completed', 3]);
    expect(output).toEqual({
      kind: 'image',
      assetId: expect.any(String),
      status: 'completed',
      mime,
      url: expect.any(String),
      thumbUrl: expect.any(String),
    });
    const read = await fetch(String(output?.url));
    expect(Buffer.from(await read.arrayBuffer())).toEqual(Buffer.from(withMark(bytes, 'ai')));
    const order = rig.provider.requests.find(({ body }) => Reflect.get(Object(body), 'prompt') === prompt);
    expect(order).toMatchObject({
      path: '/v1/images/generations',
      authorization: `Bearer ${providerKey}`,
      body: { model: 'a-maker', prompt, n: 1, size: '1024x1024' },
    });
  });

  it('is at a URL of the provider, which receives no key', async () => {
    const bytes = await newImage();
    rig.provider.on('/files/one.png', { answer: { type: 'image/png', body: bytes } });
    const { status, output } = await make(json({ data: [{ url: `${rig.provider.url}/files/one.png` }] }));
    expect([status, output?.status]).toEqual(['completed', 'completed']);
    const fetched = rig.provider.requests.find(({ path }) => path === '/v1/files/one.png');
    expect(fetched?.authorization).toBeUndefined();
  });

  it('belongs to the user, in the scope of the thread', async () => {
    const { output, threadId, maker } = await make(await withImage());
    const scope = { ownerId: maker.userId, scopeKind: 'thread', scopeId: threadId };
    const { body } = await rig.media.client(maker.credential).delete<{ dbDeleted: number }>('/v1/scope', scope);
    expect([typeof output?.assetId, body.dbDeleted]).toEqual(['string', 1]);
  });

  it('can be found by the words of its prompt', async () => {
    const { output, prompt, maker } = await make(await withImage());
    const { body } = await rig.media
      .client(maker.credential)
      .get<{ assets: { assetId: string; prompt: string; model: string }[] }>(
        `/v1/assets?q=${encodeURIComponent(prompt)}`,
      );
    expect(body.assets).toMatchObject([{ assetId: output?.assetId, prompt, model: 'a-maker' }]);
  });

  it('is stored without the characters that the database cannot store in a prompt', async () => {
    const prompt = `image ${randomUUID()}`;
    rig.provider.on(prompt, await withImage());
    const maker = await rig.user('pro', 1000);
    const { tools } = await rig.runScript(maker, calling('generateImage', { prompt: `${prompt}\0` }));
    const { body } = await rig.media
      .client(maker.credential)
      .get<{ prompt: string }>(`/v1/assets/${Reflect.get(Object(tools[0]?.output), 'assetId')}`);
    expect(body.prompt).toBe(prompt);
  });
});

/** The beginning of a Windows icon of 16 × 16 pixels. */
const icon = Buffer.from('00000100010010100000010020006804000016000000', 'hex');

describe.concurrent('an expected failure is an output: the run continues, and the image is free', () => {
  it.each([
    ['refused by the provider (400)', json({ error: { message: 'too gaudy' } }, 400), 'provider refused: too gaudy'],
    ['refused by the provider (422)', json({ error: { message: 'too plain' } }, 422), 'provider refused: too plain'],
    ['refused without a reason', json('no', 400), 'provider refused: no reason given'],
    ['no image at all', imageAnswer(Buffer.from('<html>not an image</html>')), /./],
    ['cut off', async () => imageAnswer((await newImage()).subarray(0, 60)), /./],
    ['of a kind that is not kept', imageAnswer(icon), /./],
    ['too large', async () => imageAnswer(padPng(await newImage(), testLimits.maxImageBytes + 1)), /./],
  ] as const)('%s', async (_title, answer, message) => {
    const reply = typeof answer === 'function' ? await answer() : answer;
    const { status, output, cost, answer: message_ } = await make(reply);
    expect([status, cost]).toEqual(['completed', 1]);
    expect(output).toMatchObject({ kind: 'image', assetId: null, status: 'failed', url: null, mime: null });
    expect(output?.failure).toMatchObject({ code: 'rejected', retryable: false });
    expect(Reflect.get(Object(output?.failure), 'message')).toMatch(message);
    expect(message_?.parts.at(-1)).toMatchObject({ type: 'text', text: 'So be it.' });
  });

  it('on a blocklist (451)', async () => {
    const bytes = await newImage();
    await lists.write('sha256', digestOf('sha256', bytes));
    const { status, output, cost } = await make(imageAnswer(bytes));
    expect([status, cost, output?.status]).toEqual(['completed', 1, 'failed']);
    expect(output?.failure).toMatchObject({ code: 'rejected', retryable: false });
    await lists.clear();
  });

  it('not to be paid for', async () => {
    const poor = await rig.user('pro', 2);
    const { status, tools } = await rig.runScript(poor, calling('generateImage', { prompt: 'never asked for' }));
    expect(status).toBe('completed');
    expect(tools[0]?.output).toMatchObject({
      status: 'failed',
      failure: { code: 'insufficient_credits', required: 2, balance: 1, retryable: false },
    });
    expect(await rig.credits(poor)).toBe(1);
    expect(JSON.stringify(rig.provider.requests.map(({ body }) => Reflect.get(Object(body), 'prompt')))).not.toContain(
      'never asked for',
    );
  });
});

const failures: readonly (readonly [string, ScriptedAnswer, string])[] = [
  ['401', json({ error: { message: 'key of yours' } }, 401), 'The image provider returned 401.'],
  ['429', json({}, 429), 'The image provider returned 429.'],
  ['500', json({}, 500), 'The image provider returned 500.'],
  ['a redirect', json({}, 302), 'The image provider could not be reached'],
  ['what is no JSON', { answer: { body: '<html>' } }, 'The image provider returned no image.'],
  ['no base64', json({ data: [{ b64_json: '!' }] }), 'The image provider returned no image.'],
  ['nothing made', json({ data: [] }), 'The image provider returned no image.'],
  ['an address that is none', json({ data: [{ url: 'file:///etc/passwd' }] }), 'returned no image.'],
  ['not a byte', { hang: true }, 'The image provider could not be reached, or did not respond in time.'],
  ['half of it', { answer: { body: '{"data":', stall: true } }, 'could not be reached, or did not respond in time.'],
];

describe.concurrent('a failing provider reports its reason to the model: the run continues, and the image is free', () => {
  it.each(failures)('generateImage: %s', async (_title, reply, reason) => {
    const { status, output, cost } = await make(reply);
    expect([status, cost]).toEqual(['completed', 1]);
    const failure = { code: 'provider_failed', message: expect.stringContaining(reason), retryable: true };
    expect(output).toMatchObject({ status: 'failed', failure });
  });

  it.each(failures)('editImage: %s', async (_title, reply, reason) => {
    const { status, output, cost } = await make(reply, await make(await withImage()));
    expect([status, cost]).toEqual(['completed', 1]);
    expect(output).toMatchObject({ failure: { code: 'provider_failed', message: expect.stringContaining(reason) } });
  });
});

describe.concurrent('editImage', () => {
  it('edits the latest image of the conversation, or the named one', async () => {
    const one = await make(await withImage());
    const source = await newImage();
    rig.provider.on('the second', imageAnswer(source));
    await rig.runScript(one.maker, calling('generateImage', { prompt: 'the second' }), one.threadId);
    const edited = await make(await withImage(), one);
    expect(edited.output).toMatchObject({ status: 'completed', kind: 'image' });
    const orders = () => rig.provider.requests.filter(({ path }) => path === '/v1/images/edits');
    expect(
      orders().some(({ body }) => String(body).includes(Buffer.from(withMark(source, 'ai')).toString('latin1'))),
    ).toBe(true);
    rig.provider.on('the named one', await withImage());
    const named = { prompt: 'the named one', assetId: String(one.output?.assetId).toUpperCase() };
    const { tools } = await rig.runScript(one.maker, calling('editImage', named), one.threadId);
    expect(tools[0]?.output).toMatchObject({ status: 'completed' });
    const ids = [one.output, edited.output, tools[0]?.output].map((output) => Reflect.get(Object(output), 'assetId'));
    expect(new Set(ids).size).toBe(3);
  });

  it('without a source, of an unknown asset, and of another user’s: no_source, for free', async () => {
    const stranger = rig.media.client((await rig.user()).credential);
    const { registration: reply, assetId } = await upload(stranger, await newImage());
    expect((await stranger.register(reply)).status).toBe(201);
    const user = await rig.user('pro', 100);
    const noSource = { status: 'failed', failure: { code: 'no_source', retryable: false } };
    for (const input of [{}, { assetId }, { assetId: randomUUID() }]) {
      const { status, tools } = await rig.runScript(user, calling('editImage', { prompt: 'x', ...input }));
      expect(status).toBe('completed');
      expect(tools[0]?.output).toMatchObject(noSource);
    }
    expect(await rig.credits(user)).toBe(97);
  });

  it('of an image that was deleted: rejected', async () => {
    const one = await make(await withImage());
    await rig.media.client(one.maker.credential).delete('/v1/assets', { ids: [one.output?.assetId] });
    const { status, output, cost } = await make(await withImage(), one);
    expect([status, cost]).toEqual(['completed', 1]);
    expect(output?.failure).toMatchObject({ code: 'rejected', message: 'An image of the order no longer exists.' });
  });
});
