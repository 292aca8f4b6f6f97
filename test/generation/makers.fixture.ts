/**
 * Providers of images and videos as their documentation has them: OpenAI, fal, Replicate and Gemini, in one server. Each refuses what
 * the real one refuses: unknown parameters, other sizes, a wrong key, an unknown order.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import sharp from 'sharp';
import { offlineVideos } from '#local/renderer/renderer.ts';
import { makeImage } from '../media/images.fixture.ts';

export type Wire = 'openai' | 'fal' | 'replicate' | 'google';

/** An order that a provider has accepted. */
export interface Order {
  readonly id: string;
  readonly wire: Wire;
  readonly kind: 'image' | 'video';
  readonly prompt: string;
  readonly model: string;
  /** The number of images that came with it. */
  readonly images: number;
  /** All fields that are no files. */
  readonly fields: Readonly<Record<string, unknown>>;
  state: 'made' | 'delivered' | 'canceled';
  /** Of a video: its state was requested, so the service has stored the order. */
  isAsked?: boolean;
}

export interface Makers {
  readonly url: string;
  readonly orders: readonly Order[];
  /** Requests that were refused, with the reason. */
  readonly refusals: readonly string[];
  /** Environment variables and the base URL of each wire. */
  readonly baseUrls: Readonly<Record<Wire, string>>;
  /** Prompts with `<hang>` wait until then. */
  release(): void;
  close(): void;
}

export const makersKey = 'a key of the makers';

class Refusal extends Error {
  readonly status: number;
  constructor(message: string, status = 400) {
    super(message);
    this.status = status;
  }
}

/** Of a request: JSON, or a form with files. */
interface Sent {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly files: Readonly<Record<string, number>>;
  /** `<width>x<height>` of the last file of a name in a form. */
  readonly sizes?: Readonly<Record<string, string>>;
}

export async function startMakers(): Promise<Makers> {
  const orders: Order[] = [];
  const refusals: string[] = [];
  const clip = (await offlineVideos.download({ prompt: 'a clip', ratio: '16:9', signal: new AbortController().signal }))
    .bytes;
  let released = Promise.withResolvers<void>();
  let count = 0;
  let url = '';

  /** Prompts script what the provider does. */
  const accept = async (wire: Wire, kind: Order['kind'], model: string, prompt: unknown, sent: Sent) => {
    if (typeof prompt !== 'string' || prompt === '') throw new Refusal('prompt is required');
    if (prompt.includes('<refuse>')) throw new Refusal('Your request was rejected by the safety system.');
    if (prompt.includes('<broken>')) throw new Refusal('upstream is down', 401);
    count += 1;
    const images = Object.values(sent.files).reduce((sum, number) => sum + number, 0);
    const order: Order = {
      id: `order-${count}`,
      wire,
      kind,
      prompt,
      model,
      images,
      fields: sent.fields,
      state: 'made',
    };
    orders.push(order);
    const isSecond = orders.filter((one) => one.prompt === prompt).length % 2 === 0;
    if (prompt.includes('<hang>') || (prompt.includes('<hang-odd>') && isSecond)) await released.promise;
    return order;
  };
  const picture = async (order: Order) => {
    order.state = 'delivered';
    return makeImage('png', { width: 48, height: 32, seed: count });
  };
  const find = (id: string) => {
    const order = orders.find((one) => one.id === id);
    if (order === undefined || order.state === 'canceled') throw new Refusal('not found', 404);
    return order;
  };

  const openAi = async (method: string, path: string, sent: Sent): Promise<unknown> => {
    const { model, prompt, size } = sent.fields;
    if (path === '/images/generations' || path === '/images/edits') {
      const isEdit = path === '/images/edits';
      const known = ['model', 'prompt', 'n', 'size', 'quality', 'background', 'output_format', 'moderation', 'user'];
      assertKnown(sent.fields, known);
      assertKnown(sent.files, isEdit ? ['image', 'image[]', 'mask'] : []);
      if (isEdit && !sent.files.image && !sent.files['image[]'])
        throw new Refusal("Missing required parameter: 'image'.");
      assertOneOf('size', size, ['1024x1024', '1536x1024', '1024x1536', 'auto', undefined]);
      assertOneOf('quality', sent.fields.quality, ['low', 'medium', 'high', 'auto', undefined]);
      const order = await accept('openai', 'image', String(model), prompt, sent);
      return { created: 1, data: [{ b64_json: (await picture(order)).toString('base64') }] };
    }
    const [, id, content] = /^\/videos(?:\/([^/]+))?(\/content)?$/.exec(path) ?? [];
    if (method === 'POST' && path === '/videos') {
      assertKnown(sent.fields, ['model', 'prompt', 'size', 'seconds']);
      assertKnown(sent.files, ['input_reference']);
      assertOneOf('size', size, ['1280x720', '720x1280', undefined]);
      assertOneOf('seconds', sent.fields.seconds, ['4', '8', '12', undefined]);
      const frame = sent.sizes?.input_reference;
      if (frame !== undefined && frame !== size)
        throw new Refusal('Inpaint image must match the requested width and height');
      const order = await accept('openai', 'video', String(model), prompt, sent);
      return { id: order.id, object: 'video', status: 'queued' };
    }
    if (id === undefined) throw new Refusal('not found', 404);
    const order = find(id);
    if (method === 'DELETE') {
      if (order.state === 'delivered') throw new Refusal('The video is already completed.', 409);
      order.state = 'canceled';
      return { id, deleted: true };
    }
    order.isAsked = true;
    if (!content)
      return { id, status: order.prompt.includes('<fail>') ? 'failed' : 'completed', error: { message: 'blurred' } };
    order.state = 'delivered';
    return { bytes: clip, type: 'video/mp4' };
  };

  const fal = async (method: string, path: string, sent: Sent): Promise<unknown> => {
    const [, requested] = /\/requests\/([^/]+)/.exec(path) ?? [];
    if (requested !== undefined) {
      find(requested).state = 'delivered';
      return { video: { url: `${url}/files/${requested}.mp4`, content_type: 'video/mp4' } };
    }
    if (method !== 'POST') throw new Refusal('not found', 404);
    const model = path.slice(1);
    if (model.includes('video')) {
      assertKnown(sent.fields, ['prompt', 'aspect_ratio', 'duration', 'seed', 'resolution']);
      assertKnown(sent.files, ['image_url']);
      const order = await accept('fal', 'video', model, sent.fields.prompt, sent);
      return { request_id: order.id, response_url: `https://queue.fal.run/${model}/requests/${order.id}` };
    }
    assertKnown(sent.fields, ['prompt', 'image_size', 'num_images', 'seed']);
    assertKnown(sent.files, model.endsWith('/edit') ? ['image_urls'] : ['image_url', 'mask_url']);
    const order = await accept('fal', 'image', model, sent.fields.prompt, sent);
    return { images: [{ url: `${url}/files/${order.id}.png` }] };
  };

  const replicate = async (method: string, path: string, { fields }: Sent): Promise<unknown> => {
    const [, id] = /^\/predictions\/(.+)$/.exec(path) ?? [];
    const describe = (order: Order) => ({
      id: order.id,
      status: 'succeeded',
      output: order.kind === 'image' ? [`${url}/files/${order.id}.png`] : `${url}/files/${order.id}.mp4`,
      urls: { get: `${url}/replicate/predictions/${order.id}` },
    });
    if (id !== undefined) return describe(find(id));
    const [, model = ''] = /^\/models\/(.+)\/predictions$/.exec(path) ?? [];
    if (method !== 'POST' || model === '') throw new Refusal('not found', 404);
    const input = readSent(fields.input);
    assertKnown(input.fields, ['prompt', 'aspect_ratio', 'seed', 'num_outputs', 'duration']);
    assertKnown(input.files, ['image', 'mask', ...Array.from({ length: 8 }, (_, index) => imageName(index))]);
    const kind = model.includes('video') ? 'video' : 'image';
    const order = await accept('replicate', kind, model, input.fields.prompt, input);
    return kind === 'image' ? describe(order) : { ...describe(order), status: 'starting', output: null };
  };

  const google = async (_method: string, path: string, { fields }: Sent): Promise<unknown> => {
    const [, model] = /^\/models\/(gemini-[\w.-]+):generateContent$/.exec(path) ?? [];
    if (model === undefined) throw new Refusal('not found', 404);
    const contents = fields.contents as { parts: { text?: string; inlineData?: unknown }[] }[];
    const parts = contents.flatMap((content) => content.parts);
    const { text } = parts.find((part) => part.text !== undefined) ?? {};
    const images = parts.filter(({ inlineData }) => inlineData !== undefined).length;
    const config = fields.generationConfig as Record<string, unknown>;
    assertKnown(config, ['responseModalities', 'imageConfig', 'seed']);
    const order = await accept('google', 'image', model, text, { fields: config, files: { images } });
    const data = (await picture(order)).toString('base64');
    const content = { role: 'model', parts: [{ inlineData: { mimeType: 'image/png', data } }] };
    return { candidates: [{ content, finishReason: 'STOP' }] };
  };

  const wires = [
    ['/v1', `Bearer ${makersKey}`, openAi],
    ['/replicate', `Bearer ${makersKey}`, replicate],
    ['/v1beta', makersKey, google],
    ['/fal-ai', `Key ${makersKey}`, (method: string, path: string, sent: Sent) => fal(method, `/fal-ai${path}`, sent)],
  ] as const;

  const answer = async (request: IncomingMessage): Promise<unknown> => {
    const { method = '', headers } = request;
    const { pathname } = new URL(request.url ?? '', 'http://makers');
    if (pathname === '/cms/moved.png') return { moved: `${url}/cms/card.png` };
    if (pathname === '/cms/card.png') return { bytes: await makeImage('png', { seed: 900 }), type: 'image/png' };
    const [, file] = /^\/files\/(.+)\.\w+$/.exec(pathname) ?? [];
    const body = Buffer.concat(await request.toArray());
    if (file !== undefined) {
      const order = find(file);
      order.state = 'delivered';
      return order.kind === 'image'
        ? { bytes: await picture(order), type: 'image/png' }
        : { bytes: clip, type: 'video/mp4' };
    }
    const wire = wires.find(([base]) => pathname.startsWith(`${base}/`));
    if (wire === undefined) throw new Refusal('not found', 404);
    const [base, key, handle] = wire;
    if ((headers.authorization ?? headers['x-goog-api-key']) !== key) throw new Refusal('Incorrect API key.', 401);
    return handle(method, pathname.slice(base.length), await readBody(headers['content-type'], body));
  };

  const server = createServer((request, response) => {
    answer(request).then(
      (made) => send(response, 200, made),
      (error: unknown) => {
        const { message, status } = error instanceof Refusal ? error : { message: String(error), status: 500 };
        if (status !== 404) refusals.push(message);
        send(response, status, {
          error: { message, type: 'invalid_request_error', param: null, code: null },
          detail: message,
        });
      },
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    orders,
    refusals,
    baseUrls: { openai: `${url}/v1`, fal: url, replicate: `${url}/replicate`, google: `${url}/v1beta` },
    release() {
      released.resolve();
      released = Promise.withResolvers();
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

const imageName = (index: number) => (index === 0 ? 'input_image' : `input_image_${index + 1}`);

function send(response: ServerResponse, status: number, made: unknown): void {
  const {
    bytes,
    type = 'application/json',
    moved,
  } = Object(made) as { bytes?: Uint8Array; type?: string; moved?: string };
  if (moved !== undefined) return void response.writeHead(302, { location: moved }).end();
  response.writeHead(status, { 'content-type': bytes === undefined ? 'application/json' : type });
  response.end(bytes ?? JSON.stringify(made));
}

async function readBody(type: string | undefined, body: Buffer): Promise<Sent> {
  if (body.length === 0) return { fields: {}, files: {} };
  if (!type?.startsWith('multipart/form-data')) return readSent(JSON.parse(body.toString('utf8')));
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData();
  const fields: Record<string, unknown> = {};
  const files: Record<string, number> = {};
  const sizes: Record<string, string> = {};
  for (const [name, value] of form) {
    if (typeof value === 'string') {
      fields[name] = value;
      continue;
    }
    files[name] = (files[name] ?? 0) + 1;
    const { width, height } = await sharp(await value.arrayBuffer()).metadata();
    sizes[name] = `${width}x${height}`;
  }
  return { fields, files, sizes };
}

/** Images in JSON are data URLs, or lists of them. */
function readSent(json: unknown): Sent {
  const fields: Record<string, unknown> = {};
  const files: Record<string, number> = {};
  for (const [name, value] of Object.entries(Object(json))) {
    const urls = (Array.isArray(value) ? value : [value]).filter((one) => /^data:image\//.test(String(one)));
    if (urls.length > 0) files[name] = urls.length;
    else fields[name] = value;
  }
  return { fields, files };
}

function assertKnown(sent: object, known: readonly string[]): void {
  const unknown = Object.keys(sent).find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Refusal(`Unknown parameter: '${unknown}'.`);
}

function assertOneOf(name: string, value: unknown, allowed: readonly unknown[]): void {
  if (!allowed.includes(value)) throw new Refusal(`Invalid value for '${name}': '${String(value)}'.`);
}
