/** A conversation about a photograph, by the requests that reach the provider. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withMark } from '#platform/metadata/metadata.ts';
import { makeImage } from '../media/images.fixture.ts';
import { attached, Conversation, partsOf, type Turn, text } from './conversation.fixture.ts';
import { cornersOf, photograph, photographPlace, uprightCorners } from './photograph.fixture.ts';
import type { ReceivedRequest } from './provider.fixture.ts';
import { calling, imageAnswer, type ScriptedRig, startScripted } from './scripted.fixture.ts';
import { imagesOf, messagesOf, refusal, textStream } from './wire.fixture.ts';

const contextTokens = 16_000;
const turnsBeyond = 30;
const filler = 'The light on the roof changes with the hour. '.repeat(12);

let rig: ScriptedRig;
let photo: Buffer;
let painted: Buffer;
let assetId: string;
let foreignRequests = 0;
let foreign: ReturnType<typeof createServer>;
let first: Turn;
let edited: Turn;
let regenerated: Turn;
let busy: Turn;
let rewound: Turn;
const beyond: Turn[] = [];

beforeAll(async () => {
  foreign = createServer((_request, response) => {
    foreignRequests += 1;
    response.end();
  }).listen(0, '127.0.0.1');
  rig = await startScripted({
    model: { contextTokens },
    screening: { sizes: { maxImageBytes: 20_000_000, maxVideoBytes: 200_000, maxSourcePixels: 50_000_000 } },
  });
  [photo, painted] = [await photograph(), await makeImage('png', { width: 320, height: 200, seed: 9 })];
  const foreignUrl = `http://127.0.0.1:${(foreign.address() as AddressInfo).port}/roof.jpg`;
  const usage = { prompt_tokens: 50, completion_tokens: 5, total_tokens: 55 };
  rig.provider.on('What is in my photograph?', textStream('A roof.', 'stop', usage));
  rig.provider.on('Paint the tiles', ...calling('editImage', { prompt: 'paint the tiles blue' }));
  rig.provider.on('paint the tiles blue', imageAnswer(painted));
  rig.provider.on('Are you busy?', refusal(429, { 'retry-after': '0' }), refusal(429, { 'retry-after': '0' }), {
    text: 'Not any more.',
  });
  rig.provider.on('What is in the other one?', { text: 'Another roof.' });
  rig.provider.on('Turn ', { text: filler });
  const user = await rig.user('pro', 1000);
  const talk = new Conversation(rig, user, rig.provider.requests);
  assetId = await talk.addToLibrary(photo);
  const foreignPart = { type: 'file', mediaType: 'image/jpeg', url: foreignUrl, filename: 'roof.jpg' };
  first = await talk.send([attached(assetId), foreignPart, text('What is in my photograph?')]);
  edited = await talk.send([text('Paint the tiles')]);
  const [question] = await talk.messages();
  if (question === undefined) throw new Error('the thread is empty');
  regenerated = await talk.send(partsOf(question), { rewindTo: question.id });
  busy = await talk.send([text('Are you busy?')]);
  rewound = await talk.send([...partsOf(regenerated.question).slice(0, 1), text('What is in the other one?')], {
    rewindTo: busy.question.id,
  });
  for (let turn = 1; turn <= turnsBeyond; turn++) beyond.push(await talk.send([text(`Turn ${turn}: ${filler}`)]));
}, 240_000);
afterAll(async () => {
  foreign.close();
  await rig.close();
});

const chats = () => rig.provider.requests.filter(({ path }) => path.includes('/chat/completions'));
const imagesIn = (request: readonly ReceivedRequest[], index: number) => {
  const one = request.at(index);
  return one === undefined ? [] : imagesOf(one);
};

it('every run is completed, and its cost is in its answer', () => {
  const turns = [first, edited, regenerated, busy, rewound, ...beyond];
  expect(turns.map(({ status, error }) => [status, error])).toEqual(turns.map(() => ['completed', null]));
  expect([first, edited, busy].map(({ answer }) => answer?.metadata.credits)).toEqual([1, 3, 1]);
  expect(first.answer?.metadata).toMatchObject({ usage: { inputTokens: 50, outputTokens: 5, totalTokens: 55 } });
});

describe('the photograph', () => {
  it('reaches the provider upright, scaled, with the right pixels and without its metadata', async () => {
    const [sent, ...others] = imagesIn(first.asked, 0);
    expect(others).toEqual([]);
    const { format, width, height, exif, orientation } = await sharp(sent).metadata();
    expect({ format, width, height, orientation }).toEqual({
      format: 'jpeg',
      width: 1176,
      height: 1568,
      orientation: undefined,
    });
    expect(exif?.toString('latin1') ?? '').not.toContain(photographPlace);
    expect(await cornersOf(sent ?? Buffer.of())).toEqual(uprightCorners);
  });

  it('is sent with each later turn, and named by its asset id', () => {
    for (const { asked: request } of [edited, regenerated, busy, rewound]) {
      expect(imagesIn(request, 0)[0]?.equals(imagesIn(first.asked, 0)[0] ?? Buffer.of())).toBe(true);
      expect(JSON.stringify(request[0]?.body)).toContain(`assetId ${assetId}`);
    }
  });

  it('is sent unchanged to the provider that edits it', () => {
    const edit = rig.provider.requests.find(({ path }) => path.endsWith('/images/edits'));
    expect(String(edit?.body).includes(photo.toString('latin1'))).toBe(true);
  });

  it('preserves its identity in a reload and a regeneration', () => {
    const [part] = regenerated.question.parts;
    expect(part).toMatchObject({ url: expect.stringMatching(/^http/), providerMetadata: { atelier: { assetId } } });
    expect(rewound.question.parts[0]).toMatchObject({ providerMetadata: { atelier: { assetId } } });
  });
});

it('the edited image is shown to the model in its next step, and to the user', async () => {
  expect(imagesIn(edited.asked, 0)).toHaveLength(1);
  const images = imagesIn(edited.asked, 1);
  expect(images).toHaveLength(2);
  expect(await sharp(images[1]).metadata()).toMatchObject({ format: 'jpeg', width: 320, height: 200 });
  const output = edited.answer?.parts.find(({ type }) => type === 'tool-editImage')?.output as { url: string };
  const shown = Buffer.from(await (await fetch(output.url)).arrayBuffer());
  expect(shown.equals(withMark(painted, 'edited'))).toBe(true);
});

it('a rewind drops the later messages', () => {
  const words = JSON.stringify(rewound.asked[0]?.body);
  expect(words).not.toContain('Are you busy?');
  expect(JSON.stringify(regenerated.asked[0]?.body)).not.toContain('Paint the tiles');
});

it('429s in between are tried again and not seen', () => {
  expect(busy.asked).toHaveLength(3);
  expect(JSON.stringify(busy.answer?.parts)).toContain('Not any more.');
});

it('beyond the context the newest messages are sent, from a question on', () => {
  const last = beyond.at(-1)?.asked[0];
  const [system, ...messages] = last === undefined ? [] : messagesOf(last);
  expect([system?.role, messages[0]?.role]).toEqual(['system', 'user']);
  const words = JSON.stringify(messages);
  expect(words).toContain(`Turn ${turnsBeyond}: `);
  expect(words).toContain(`Turn ${turnsBeyond - 1}: `);
  expect(words).not.toContain('Turn 1: ');
  expect(Buffer.byteLength(words) / 3).toBeLessThan(contextTokens);
});

it('no request contains a URL, and no foreign server is called', () => {
  for (const request of chats()) expect(JSON.stringify(messagesOf(request))).not.toMatch(/https?:/);
  for (const { headers } of rig.provider.requests) expect(JSON.stringify(headers)).not.toContain(rig.media.url);
  expect(foreignRequests).toBe(0);
});
