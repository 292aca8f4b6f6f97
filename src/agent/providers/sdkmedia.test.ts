/** Images and videos by the AI SDK's packages, on the wire of each provider. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { version } from '#platform/version.ts';
import { json, startWireServer, type WireServer } from '../../../test/agent/providers/wire.fixture.ts';
import { offlineImages, offlineVideos } from '../../local/renderer/renderer.ts';
import type { SdkProviderName } from '../sdkpackages.ts';
import {
  type ImageGenerator,
  type OrderedVideo,
  OrderRefused,
  ProviderFailed,
  type VideoGenerator,
} from './generators.ts';
import { openImages, openVideos } from './open.ts';

let server: WireServer;
beforeAll(async () => {
  server = await startWireServer();
});
afterAll(() => server.close());

const { signal } = new AbortController();
const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
const clip = Buffer.from('0000001866747970', 'hex');
const file = (bytes: Uint8Array, type: string) => ({ headers: { 'content-type': type }, body: bytes });
const apiKey = 'a key';

interface Maker {
  readonly provider: SdkProviderName;
  readonly name: string;
  readonly path?: string;
  readonly editName?: string;
}
const settingsOf = ({ provider, name, path = '', editName }: Maker) => ({
  provider,
  name,
  editName,
  apiKey,
  url: server.url + path,
});
const images = (maker: Maker) => openImages(settingsOf(maker), offlineImages);
const videos = (maker: Maker) => openVideos(settingsOf(maker), offlineVideos, 5);
const draw = (generator: ImageGenerator, ratio: '1:1' | '16:9' = '16:9') =>
  generator.generate({ prompt: 'a bee', ratio, signal });
const sentTo = (place: string) => server.requests.filter(({ path }) => decodeURIComponent(path).includes(place));

describe('an image', () => {
  it('of OpenAI', async () => {
    server.on('gpt-image-a', json({ created: 1, data: [{ b64_json: png.toString('base64') }] }));
    expect(await draw(await images({ provider: 'openai', name: 'gpt-image-a', path: '/v1' }))).toEqual({
      bytes: png,
      mime: 'image/png',
      model: 'gpt-image-a',
    });
    const [request] = sentTo('/v1/images/generations');
    expect(request).toMatchObject({
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'user-agent': `Atelier/${version}` },
      body: { model: 'gpt-image-a', prompt: 'a bee', n: 1, size: '1536x1024' },
    });
  });

  it('of OpenAI, edited', async () => {
    server.on('/v1/images/edits', json({ data: [{ b64_json: png.toString('base64') }] }));
    const generator = await images({ provider: 'openai', name: 'gpt-image-b', path: '/v1' });
    const sources = [{ bytes: png, mime: 'image/png' }];
    expect((await generator.edit({ prompt: 'in blue', sources, signal })).bytes).toEqual(png);
    const [request] = sentTo('/v1/images/edits');
    expect(request?.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
    expect(String(request?.body)).toContain('in blue');
    expect(String(request?.body)).toContain(png.toString('latin1'));
    expect(String(request?.body)).not.toContain('name="mask"');
  });

  it('of OpenAI, edited in a part', async () => {
    server.on('/v1/images/edits', json({ data: [{ b64_json: png.toString('base64') }] }));
    const generator = await images({ provider: 'openai', name: 'gpt-image-b', path: '/v1' });
    const image = { bytes: png, mime: 'image/png' };
    await generator.edit({ prompt: 'in green', sources: [image], mask: image, ratio: '9:16', signal });
    const body = String(sentTo('/v1/images/edits').at(-1)?.body);
    expect(body).toContain('name="mask"');
    expect(body).toMatch(/name="size"\r\n\r\n1024x1536/);
  });

  it('of Google', async () => {
    const part = { inlineData: { mimeType: 'image/png', data: png.toString('base64') } };
    const content = { role: 'model', parts: [part] };
    server.on('gemini-image-a', json({ candidates: [{ content, finishReason: 'STOP' }] }));
    const made = await draw(await images({ provider: 'google', name: 'gemini-image-a', path: '/v1beta' }));
    expect(Buffer.from(made.bytes)).toEqual(png);
    expect(sentTo('gemini-image-a')[0]).toMatchObject({
      path: '/v1beta/models/gemini-image-a:generateContent',
      headers: { 'x-goog-api-key': apiKey },
      body: { generationConfig: { responseModalities: ['IMAGE'], imageConfig: { aspectRatio: '16:9' } } },
    });
  });

  it('of fal, at a URL that gets no key; edited by another model', async () => {
    server.on('/fal-ai/flux', json({ images: [{ url: `${server.url}/files/fal.png` }] }));
    server.on('/files/fal.png', file(png, 'image/png'));
    const generator = await images({ provider: 'fal', name: 'fal-ai/flux', editName: 'fal-ai/flux/edit' });
    expect(Buffer.from((await draw(generator)).bytes)).toEqual(png);
    expect(sentTo('/fal-ai/flux')[0]).toMatchObject({
      path: '/fal-ai/flux',
      headers: { authorization: `Key ${apiKey}` },
      body: { prompt: 'a bee', image_size: 'landscape_16_9', num_images: 1 },
    });
    expect(sentTo('/files/fal.png')[0]?.headers).not.toHaveProperty('authorization');
    await generator.edit({ prompt: 'in blue', sources: [{ bytes: png, mime: 'image/png' }], signal });
    expect(sentTo('/fal-ai/flux/edit')[0]?.body).toMatchObject({
      image_urls: [`data:image/png;base64,${png.toString('base64')}`],
    });
  });

  it('of Replicate, which is polled', async () => {
    const urls = { get: `${server.url}/v1/predictions/p1` };
    server.on('/v1/models/maker/painter/predictions', json({ status: 'starting', urls }, 201));
    server.on('/v1/predictions/p1', json({ status: 'succeeded', output: [`${server.url}/files/r.png`], urls }));
    server.on('/files/r.png', file(png, 'image/png'));
    const made = await draw(await images({ provider: 'replicate', name: 'maker/painter', path: '/v1' }), '1:1');
    expect(Buffer.from(made.bytes)).toEqual(png);
    expect(sentTo('maker/painter')[0]).toMatchObject({
      headers: { authorization: `Bearer ${apiKey}`, prefer: 'wait' },
      body: { input: { prompt: 'a bee', aspect_ratio: '1:1', num_outputs: 1 } },
    });
  });
});

describe('an image that fails', () => {
  const fal = (name: string) => images({ provider: 'fal', name });

  it.each([
    ['refused (422)', json({ detail: [{ loc: ['body', 'prompt'], msg: 'too gaudy', type: 'x' }] }, 422), 'too gaudy'],
    ['refused (400)', json({ error: { message: 'too plain' } }, 400), 'too plain'],
    ['without a reason', json({}, 400), 'no reason given'],
  ])('%s: rejects with OrderRefused', async (title, answer, reason) => {
    server.on(title, answer);
    const failure = draw(await fal(title));
    await expect(failure).rejects.toThrow(OrderRefused);
    await expect(failure).rejects.toThrow(`The image provider refused: ${reason}`);
    expect(sentTo(title)).toHaveLength(1);
  });

  it('failed prediction: rejects with OrderRefused', async () => {
    const urls = { get: `${server.url}/v1/predictions/p2` };
    server.on('maker/failing', json({ status: 'failed', error: 'NSFW content', urls }, 201));
    const failure = draw(await images({ provider: 'replicate', name: 'maker/failing', path: '/v1' }));
    await expect(failure).rejects.toThrow(OrderRefused);
    await expect(failure).rejects.toThrow('The image provider failed: NSFW content');
  });

  it('filtered response: rejects with OrderRefused', async () => {
    server.on('gemini-filtered', json({ candidates: [{ content: { parts: [] }, finishReason: 'IMAGE_SAFETY' }] }));
    const failure = draw(await images({ provider: 'google', name: 'gemini-filtered', path: '/v1beta' }));
    await expect(failure).rejects.toThrow(OrderRefused);
  });

  it.each([
    ['rejected (401)', json({ message: 'secret' }, 401), 'The image provider returned 401.', 1],
    ['busy (429)', { ...json({}, 429), headers: { 'retry-after': '0' } }, 'The image provider returned 429.', 3],
    ['busy for long', { ...json({}, 429), headers: { 'retry-after': '31' } }, 'The image provider returned 429.', 1],
    ['malformed', json({ images: 'none' }), 'The image provider returned no image.', 1],
    ['no JSON', { body: '<html>' }, 'The image provider returned no image.', 1],
    ['a redirect', { status: 302, headers: { location: '/elsewhere' } }, 'could not be reached', 3],
    [
      'at a private address',
      json({ images: [{ url: 'http://169.254.169.254/latest' }] }),
      'The image provider could not be reached',
      1,
    ],
  ])('%s: rejects with ProviderFailed', async (title, answer, reason, tries) => {
    server.on(title, answer);
    const failure = draw(await fal(title));
    await expect(failure).rejects.toThrow(ProviderFailed);
    await expect(failure).rejects.toThrow(reason);
    expect(sentTo(title)).toHaveLength(tries);
  });

  it('once with 503 is tried again', async () => {
    const answer = json({ images: [{ url: `${server.url}/files/fal.png` }] });
    server.on('unstable', { ...json({}, 503), headers: { 'retry-after': '0' } }, answer);
    server.on('/files/fal.png', file(png, 'image/png'));
    expect(Buffer.from((await draw(await fal('unstable'))).bytes)).toEqual(png);
    expect(sentTo('unstable')).toHaveLength(2);
  });

  it.each(['localhost', '127.0.0.1'])(
    'is not fetched from another port of this machine, here as %s',
    async (hostname) => {
      const seen: unknown[] = [];
      const inside = createServer((request, response) => {
        seen.push(request.url);
        response.end(png);
      });
      await new Promise<void>((resolve) => inside.listen(0, '127.0.0.1', resolve));
      const url = `http://${hostname}:${(inside.address() as AddressInfo).port}/secret.png`;
      server.on('compatible', json({ data: [{ url }] }));
      const settings = {
        ...settingsOf({ provider: 'openai', name: 'compatible' }),
        provider: 'openai-compatible' as const,
      };
      await expect(draw(await openImages(settings, offlineImages))).rejects.toThrow('could not be reached');
      expect(seen).toEqual([]);
      inside.close();
    },
  );
});

describe('a video', () => {
  const order = { prompt: 'a bee', ratio: '9:16' as const, signal };
  const idOf = (ordered: OrderedVideo) => ('providerId' in ordered ? ordered.providerId : '');

  /** Waits for an order as the jobs do. */
  async function finish(generator: VideoGenerator, providerId: string) {
    while (!(await generator.isMade(providerId, signal)));
    return generator.download({ ...order, providerId });
  }
  const make = async (generator: VideoGenerator) => finish(generator, idOf(await generator.order(order)));

  it('from fal is queued, and another process continues without a second order', async () => {
    const responseUrl = 'https://queue.fal.run/fal-ai/mover/requests/r1';
    server.on('POST /fal-ai/mover', json({ request_id: 'r1', response_url: responseUrl }));
    const done = json({ video: { url: `${server.url}/files/fal.mp4`, content_type: 'video/mp4' } });
    server.on('/requests/r1', json({ detail: 'Request is still in progress' }, 400), done);
    server.on('/files/fal.mp4', file(clip, 'video/mp4'));
    const generator = await videos({ provider: 'fal', name: 'fal-ai/mover' });
    const providerId = idOf(await generator.order(order));
    expect(await finish(generator, providerId)).toEqual({
      bytes: new Uint8Array(clip),
      mime: 'video/mp4',
      model: 'fal-ai/mover',
    });
    const posts = () => sentTo('/fal-ai/mover').filter(({ method }) => method === 'POST');
    expect(posts()).toMatchObject([
      { headers: { authorization: `Key ${apiKey}` }, body: { prompt: 'a bee', aspect_ratio: '9:16' } },
    ]);
    expect(sentTo('/files/fal.mp4')[0]?.headers).not.toHaveProperty('authorization');
    expect((await finish(generator, providerId)).bytes).toEqual(new Uint8Array(clip));
    expect(posts()).toHaveLength(1);
  });

  it('of Replicate', async () => {
    const urls = { get: `${server.url}/v1/predictions/v1` };
    server.on('POST /v1/models/maker/mover/predictions', json({ id: 'v1', status: 'starting', urls }, 201));
    const done = { id: 'v1', status: 'succeeded', output: `${server.url}/files/r.mp4`, urls };
    server.on('/v1/predictions/v1', json({ id: 'v1', status: 'processing', urls }), json(done));
    server.on('/files/r.mp4', file(clip, 'video/mp4'));
    const generator = await videos({ provider: 'replicate', name: 'maker/mover', path: '/v1' });
    expect((await make(generator)).bytes).toEqual(new Uint8Array(clip));
    expect(sentTo('maker/mover')[0]).toMatchObject({ body: { input: { prompt: 'a bee', aspect_ratio: '9:16' } } });
  });

  it('from Google is downloaded through a redirect', async () => {
    const name = 'models/veo-a/operations/o1';
    server.on('veo-a:predictLongRunning', json({ name }));
    const uri = `${server.url}/v1beta/files/f1:download?alt=media`;
    const response = { generateVideoResponse: { generatedSamples: [{ video: { uri } }] } };
    server.on(name, json({ name, done: false }), json({ name, done: true, response }));
    server.on('/v1beta/files/f1:download', { status: 302, headers: { location: '/download/f1' } });
    server.on('/download/f1', file(clip, 'video/mp4'));
    const generator = await videos({ provider: 'google', name: 'veo-a', path: '/v1beta' });
    expect((await make(generator)).bytes).toEqual(new Uint8Array(clip));
    expect(sentTo('veo-a:predictLongRunning')[0]).toMatchObject({
      headers: { 'x-goog-api-key': apiKey },
      body: { instances: [{ prompt: 'a bee' }], parameters: { aspectRatio: '9:16', sampleCount: 1 } },
    });
    expect(sentTo('/v1beta/files/f1')[0]?.path).toContain(`key=${encodeURIComponent(apiKey).replace('%20', '%20')}`);
  });

  it('that fails at the provider rejects with OrderRefused', async () => {
    const urls = { get: `${server.url}/v1/predictions/v2` };
    server.on('maker/broken', json({ id: 'v2', status: 'starting', urls }, 201));
    server.on('/v1/predictions/v2', json({ id: 'v2', status: 'failed', error: 'blurred', urls }));
    const failure = make(await videos({ provider: 'replicate', name: 'maker/broken', path: '/v1' }));
    await expect(failure).rejects.toThrow(OrderRefused);
    await expect(failure).rejects.toThrow('blurred');
  });

  it('rejects with ProviderFailed if the provider stops responding', async () => {
    const responseUrl = 'https://queue.fal.run/fal-ai/lost/requests/r2';
    server.on('POST /fal-ai/lost', json({ request_id: 'r2', response_url: responseUrl }));
    server.on('/requests/r2', { ...json({}, 500), headers: { 'retry-after': '0' } });
    const failure = make(await videos({ provider: 'fal', name: 'fal-ai/lost' }));
    await expect(failure).rejects.toThrow(ProviderFailed);
    await expect(failure).rejects.toThrow('The video provider returned 500.');
  });

  it('ordered from another provider is not ordered again', async () => {
    const generator = await videos({ provider: 'replicate', name: 'maker/other', path: '/v1' });
    for (const known of ['video_1', JSON.stringify({ provider: 'fal.video', operation: {} })])
      await expect(generator.isMade(known, signal)).rejects.toThrow('requested from another provider');
    expect(sentTo('maker/other')).toEqual([]);
  });
});

describe('a start fault names the setting', () => {
  it.each([
    ['anthropic', 'IMAGE_MODEL_PROVIDER: @ai-sdk/anthropic has no image models.'],
    ['azure', 'IMAGE_MODEL_PROVIDER: the package @ai-sdk/azure is not installed: run `npm install'],
  ] as const)('images by %s', async (provider, message) => {
    await expect(images({ provider, name: 'x' })).rejects.toThrow(message);
  });

  it('videos by openai', async () => {
    const fault = 'VIDEO_MODEL_PROVIDER: @ai-sdk/openai has no video models.';
    await expect(videos({ provider: 'openai', name: 'x' })).rejects.toThrow(fault);
  });

  it('no key', async () => {
    const settings = { ...settingsOf({ provider: 'replicate', name: 'x' }), apiKey: undefined, url: 'offline' };
    await expect(openImages(settings, offlineImages)).rejects.toThrow(
      'IMAGE_MODEL_PROVIDER: @ai-sdk/replicate needs a key.',
    );
  });
});
