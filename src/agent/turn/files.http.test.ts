/** The files of a conversation as the model gets them, in the requests to its provider. */

import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ReceivedRequest } from '../../../test/agent/provider.fixture.ts';
import { type Chatter, newThread } from '../../../test/agent/rig.fixture.ts';
import { calling, imageAnswer, type ScriptedRig, startScripted } from '../../../test/agent/scripted.fixture.ts';
import { imagesOf, messagesOf, pdfOf } from '../../../test/agent/wire.fixture.ts';
import { makeImage } from '../../../test/media/images.fixture.ts';
import { upload } from '../../../test/media/rig.fixture.ts';
import { estimateTokens } from '../providers/resilientmodel.ts';
import type { AgentTables } from '../tables.ts';
import { listMessages } from '../threads/messagestore.ts';

let rig: ScriptedRig;
let user: Chatter;
beforeAll(async () => {
  const entry = { apiKeyEnv: 'KEY', model: 'a-model' };
  rig = await startScripted({
    file: (baseUrl) => [
      { ...entry, id: 'a-model', baseUrl },
      { ...entry, id: 'small', baseUrl, contextTokens: 8000 },
      { ...entry, id: 'middle', baseUrl, contextTokens: 24_000 },
      { ...entry, id: 'blind', baseUrl, contextTokens: 8000, vision: false },
    ],
    changes: { readKey: () => 'a key' },
  });
  user = await rig.user('pro', 1000);
});
afterAll(() => rig.close());

/** In the library of this user. */
async function newAsset(bytes: Uint8Array, owner = user, mime = 'image/png'): Promise<string> {
  const client = rig.media.client(owner.credential);
  const { registration, assetId } = await upload(client, bytes, { scopeKind: 'thread', mime });
  expect((await client.register(registration)).status).toBe(201);
  return assetId;
}

const file = (url: string, mediaType = 'image/png', more = {}) => ({ type: 'file', mediaType, url, ...more });
const dataUrl = (mime: string, bytes: Uint8Array) => `data:${mime};base64,${Buffer.from(bytes).toString('base64')}`;

interface Turn {
  readonly request: ReceivedRequest;
  readonly status: string;
}

/** A run with these parts in its message; `asked` is the first request to the provider. */
async function turn(threadId: string, parts: readonly object[], owner = user, model = 'a-model'): Promise<Turn> {
  const word = `<files ${randomUUID()}>`;
  rig.provider.on(word, { text: 'I see.' });
  const message = { role: 'user', parts: [...parts, { type: 'text', text: word }] };
  const { status, body } = await owner.call<{ taskId: string }>('POST', '/task', { threadId, message, model });
  expect([status, JSON.stringify(body)]).toEqual([201, expect.stringContaining('taskId')]);
  const ended = await owner.ended(body.taskId);
  const request = rig.provider.requests.find((one) => JSON.stringify(one.body).includes(word));
  if (request === undefined) throw new Error(`the provider was not called: ${ended.error}`);
  return { request: request, status: ended.status };
}

/** The texts of a request, unescaped. */
const wordsOf = (request: ReceivedRequest) =>
  messagesOf(request)
    .flatMap(({ content }) => (Array.isArray(content) ? content : [{ text: content }]))
    .map(({ text }: { text?: string }) => text ?? '')
    .join('\n');
const textOf = (request: ReceivedRequest) => JSON.stringify(messagesOf(request));

describe('images', () => {
  it('of the library are sent as scaled bytes, never by URL', async () => {
    const bytes = await sharp({ create: { width: 2000, height: 400, channels: 3, background: 'red' } })
      .png()
      .toBuffer();
    const assetId = await newAsset(bytes);
    const { request, status } = await turn(newThread(), [file(`asset:${assetId}`)]);
    expect(status).toBe('completed');
    const [sent] = imagesOf(request);
    const { format, width, height } = await sharp(sent).metadata();
    expect([format, width, height]).toEqual(['jpeg', 1568, 314]);
    expect(textOf(request)).toContain(`assetId ${assetId}`);
    expect(textOf(request)).not.toContain('http');
  });

  it('at other addresses are notes', async () => {
    const { request, status } = await turn(newThread(), [
      file('https://images.example/a.png', 'image/png', { filename: 'a.png' }),
    ]);
    expect([status, imagesOf(request)]).toEqual(['completed', []]);
    expect(textOf(request)).toContain('[attached: a.png]');
    expect(textOf(request)).not.toContain('images.example');
  });

  it('that were deleted are notes, and the thread continues', async () => {
    const threadId = newThread();
    const assetId = await newAsset(await makeImage('png'));
    await turn(threadId, [file(`asset:${assetId}`)]);
    await rig.media.client(user.credential).delete('/v1/assets', { ids: [assetId] });
    const { request, status } = await turn(threadId, []);
    expect([status, imagesOf(request)]).toEqual(['completed', []]);
    expect(textOf(request)).toContain(`assetId ${assetId}`);
  });

  it('in data: URLs become assets of the thread', async () => {
    const threadId = newThread();
    const { request, status } = await turn(threadId, [file(dataUrl('image/png', await makeImage('png')))]);
    expect([status, imagesOf(request).length]).toEqual(['completed', 1]);
    const [part] = (await user.messages(threadId))[0]?.parts ?? [];
    expect(part).toMatchObject({ type: 'file', url: expect.stringMatching(/^http/) });
    expect(JSON.stringify(part)).not.toContain('base64');
  });

  it('that cannot be decoded are notes', async () => {
    const garbage = file('data:image/png;base64,AAAA', 'image/png', { filename: 'broken.png' });
    const { request, status } = await turn(newThread(), [garbage]);
    expect([status, imagesOf(request)]).toEqual(['completed', []]);
    expect(textOf(request)).toContain('[attached: broken.png]');
  });

  it('of the last eight messages that have any are sent; older ones are notes', async () => {
    const threadId = newThread();
    const ids = [];
    for (let index = 0; index < 10; index++) {
      const assetId = await newAsset(await makeImage('png'));
      ids.push(assetId);
      await turn(threadId, [file(`asset:${assetId}`)]);
    }
    const { request } = await turn(threadId, []);
    expect(imagesOf(request)).toHaveLength(8);
    for (const assetId of ids) expect(textOf(request)).toContain(assetId);
  });

  it('that a tool made are sent with the next step, and with the next turn', async () => {
    rig.provider.on('a red bee', imageAnswer(await makeImage('png')));
    const { threadId, status } = await rig.runScript(user, calling('generateImage', { prompt: 'a red bee' }));
    expect(status).toBe('completed');
    const lastStep = rig.provider.requests.findLast(({ path }) => path.endsWith('/chat/completions'));
    expect(lastStep === undefined ? [] : imagesOf(lastStep)).toHaveLength(1);
    const next = await turn(threadId, []);
    expect(imagesOf(next.request)).toHaveLength(1);
  });
});

describe('the identity of an asset', () => {
  const storedUrl = async (threadId: string, index: number) => {
    const stored = await listMessages(rig.media.database.queries<AgentTables>(), threadId);
    const part = stored[index]?.parts[0];
    return part?.type === 'file' ? part.url : undefined;
  };

  it('is kept when a client sends a part or only its URL back', async () => {
    const threadId = newThread();
    const assetId = await newAsset(await makeImage('png'));
    await turn(threadId, [file(`asset:${assetId}`)]);
    const [part] = (await user.messages(threadId))[0]?.parts ?? [];
    expect(part).toMatchObject({ providerMetadata: { atelier: { assetId } }, url: expect.stringMatching(/^http/) });
    await turn(threadId, [part as object]);
    await turn(threadId, [file(String(part?.url))]);
    await turn(threadId, [
      file('https://elsewhere.example/x.png', 'image/png', { providerMetadata: { atelier: { assetId } } }),
    ]);
    for (const index of [0, 2, 4, 6]) expect(await storedUrl(threadId, index)).toBe(`asset:${assetId}`);
  });

  it("of another user's image returns 403 in every spelling", async () => {
    const other = await rig.user('pro', 10);
    const threadId = newThread();
    const assetId = await newAsset(await makeImage('png'), other);
    await turn(threadId, [file(`asset:${assetId}`)], other);
    const [part] = (await other.messages(threadId))[0]?.parts ?? [];
    const named = [file(`asset:${assetId}`), part, file(String(part?.url))];
    for (const one of named) {
      const body = { threadId: newThread(), message: { role: 'user', parts: [one] } };
      expect((await user.call('POST', '/task', body)).status).toBe(403);
    }
  });
});

describe('documents', () => {
  it.each([
    ['text/plain', 'The bees are in the garden.'],
    ['application/json;charset=utf-8', '{"bees":"in the garden"}'],
    ['text/markdown', '# Bees\n\nin the garden'],
    ['application/json', '{"bees":"in the garden"}'],
    ['text/csv', 'bees,garden'],
  ])('%s is sent as its text', async (mime, text) => {
    const { request, status } = await turn(newThread(), [
      file(dataUrl(mime, Buffer.from(text)), mime, { filename: 'bees' }),
    ]);
    expect(status).toBe('completed');
    expect(wordsOf(request)).toContain(text);
  });

  it.each([
    ['in a data: URL', async (bytes: Uint8Array) => dataUrl('text/plain', bytes)],
    ['of the library', async (bytes: Uint8Array) => `asset:${await newAsset(bytes, user, 'text/plain')}`],
  ])('%s of 100 kB is sent whole, and a longer one is a note', async (_title, urlOf) => {
    const wordsWith = async (length: number) => {
      const url = await urlOf(Buffer.alloc(length, 'a'));
      const { request, status } = await turn(newThread(), [file(url, 'text/plain')]);
      expect(status).toBe('completed');
      return wordsOf(request);
    };
    expect(await wordsWith(100_000)).toMatch(/\na{100000}\n/);
    const words = await wordsWith(100_001);
    expect(words).toContain('[attached: ');
    expect(words).not.toMatch(/a{10}/);
  });

  it('a PDF is sent as its text', async () => {
    const pdf = pdfOf('Bees in the garden');
    const { request, status } = await turn(newThread(), [file(dataUrl('application/pdf', pdf), 'application/pdf')]);
    expect(status).toBe('completed');
    expect(textOf(request)).toContain('Bees in the garden');
  });

  it('a PDF that a browser printed is sent as the text of all of its pages', async () => {
    const pdf = await readFile(new URL('../../../test/agent/fixtures/report.pdf', import.meta.url));
    const { request, status } = await turn(newThread(), [file(dataUrl('application/pdf', pdf), 'application/pdf')]);
    expect(status).toBe('completed');
    const words = wordsOf(request).replaceAll(/\s/g, ' ');
    for (const part of [
      'in Plzeň was',
      'crimson',
      'efficient repair',
      '“flue”',
      '1 250 €',
      'gutter',
      'Příští kontrola: září',
    ])
      expect(words).toContain(part);
  });

  it('leave room for memories, tools and the answer', async () => {
    rig.memories.push(...['a', 'b', 'c'].map((letter) => letter + 'm'.repeat(2800)));
    const { request } = await turn(
      newThread(),
      [file(dataUrl('text/plain', Buffer.alloc(90_000, 'x')), 'text/plain')],
      user,
      'middle',
    );
    rig.memories.length = 0;
    expect(wordsOf(request).match(/m{2800}/g)).toHaveLength(3);
    const notesOfCutFile = 30;
    expect(estimateTokens(wordsOf(request))).toBeLessThanOrEqual(24_000 - 1500 - 4096 + notesOfCutFile);
  });

  it('too long for the context of the model are cut to it', async () => {
    const text = `The first bee. ${'bees in the garden '.repeat(5000)}`;
    const parts = ['a', 'b'].map((filename) =>
      file(dataUrl('text/plain', Buffer.from(text)), 'text/plain', { filename }),
    );
    const { request, status } = await turn(newThread(), parts, user, 'small');
    expect(status).toBe('completed');
    expect(Buffer.byteLength(textOf(request)) / 3).toBeLessThan(8000);
    expect(
      wordsOf(request).match(/attached: [ab]\]\nThe first bee[.] [^[]{5000,}\n\[The rest of the file/g),
    ).toHaveLength(2);
  });

  it('an image for a model without vision is a note that it cannot be seen', async () => {
    const assetId = await newAsset(await makeImage('png'));
    const parts = [file(`asset:${assetId}`, 'image/png')];
    const blind = await turn(newThread(), parts, user, 'blind');
    expect(textOf(blind.request)).toContain(`[attached: assetId ${assetId}]\\n[You cannot see images.`);
    const seeing = await turn(newThread(), parts, user, 'a-model');
    expect(textOf(seeing.request)).not.toContain('cannot see');
  });

  it.each([
    ['a short document of the library', 'text/plain', 'small'],
    ['images that the model does not see', 'image/png', 'blind'],
  ])('%s: the model gets the messages before it', async (_title, mime, model) => {
    const threadId = newThread();
    await turn(threadId, [{ type: 'text', text: 'My name is Zed.' }], user, model);
    const bytes = mime === 'image/png' ? await makeImage('png') : Buffer.from('Bees.');
    const assetId = await newAsset(bytes, user, mime);
    const parts = Array.from({ length: mime === 'image/png' ? 6 : 1 }, () => file(`asset:${assetId}`, mime));
    const { request } = await turn(threadId, parts, user, model);
    expect(textOf(request)).toContain('My name is Zed.');
  });

  it.each([
    ['a broken PDF', 'application/pdf', Buffer.from('%PDF-1.4 nonsense')],
    ['of another kind', 'application/zip', Buffer.from('PK')],
  ])('%s is a note', async (_title, mime, bytes) => {
    const { request, status } = await turn(newThread(), [file(dataUrl(mime, bytes), mime, { filename: 'the-file' })]);
    expect(status).toBe('completed');
    expect(textOf(request)).toContain('[attached: the-file]');
    expect(textOf(request).length).toBeLessThan(5000);
  });
});
