/** The wires of fal (images), Replicate (videos) and Google (texts), with the refusals of each. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { type Party, Refusal, startParty } from './party.fixture.ts';

export const packageModels = {
  image: 'fal-ai/painter',
  edit: 'fal-ai/painter/edit',
  video: 'maker/mover',
  chat: 'gemini-talker',
};
const providerKey = 'the-key-of-the-provider';

export interface PackageParty extends Party {
  readonly key: string;
  readonly orders: readonly Readonly<Record<string, unknown>>[];
}

const prompt = z.string().min(1);
const dataUrl = z.string().regex(/^data:image\/(?:png|jpeg|webp);base64,/);
const falOrder = z.object({ prompt });
const falEdit = z.object({ prompt, image_urls: z.array(dataUrl).min(1) });

/** Synchronous: `POST /<model>`. Images are at a URL. */
export async function startFal(painted: Buffer): Promise<PackageParty> {
  const orders: Record<string, unknown>[] = [];
  const party = await startParty((request, body, response) => {
    if (request.url === '/files/painted.png') {
      response.writeHead(200, { 'content-type': 'image/png' }).end(painted);
      return undefined;
    }
    if (request.headers.authorization !== `Key ${providerKey}`)
      return answer(response, 401, { detail: 'Cannot access application. Authentication is required.' });
    const isEdit = request.url === `/${packageModels.edit}`;
    if (!isEdit && request.url !== `/${packageModels.image}`)
      return answer(response, 404, { detail: `Application '${request.url?.slice(1)}' not found` });
    const parsed = (isEdit ? falEdit : falOrder).safeParse(JSON.parse(body.toString()));
    if (!parsed.success) {
      const detail = parsed.error.issues.map(({ path, message }) => ({
        loc: ['body', ...path],
        msg: message,
        type: 'missing',
      }));
      return answer(response, 422, { detail });
    }
    orders.push(parsed.data);
    return { images: [{ url: `${party.url}/files/painted.png`, content_type: 'image/png' }], seed: 1 };
  });
  return { ...party, key: providerKey, orders };
}

/** A prediction, which is polled. */
export async function startReplicate(filmed: Buffer): Promise<PackageParty> {
  const orders: Record<string, unknown>[] = [];
  const reads = new Map<string, number>();
  const order = z.object({ input: z.looseObject({ prompt }) });
  const party = await startParty((request, body, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://party');
    if (pathname === '/files/filmed.mp4') {
      response.writeHead(200, { 'content-type': 'video/mp4' }).end(filmed);
      return undefined;
    }
    if (request.headers.authorization !== `Bearer ${providerKey}`)
      return answer(response, 401, {
        title: 'Unauthenticated',
        detail: 'You did not pass a valid authentication token',
      });
    const id = /^\/v1\/predictions\/([\w-]+)$/.exec(pathname)?.[1];
    const stateOf = (known: string) => {
      const read = reads.get(known) ?? 0;
      reads.set(known, read + 1);
      const urls = { get: `${party.url}/v1/predictions/${known}` };
      const isDone = read > 1;
      const output = isDone ? `${party.url}/files/filmed.mp4` : null;
      return { id: known, status: isDone ? 'succeeded' : 'processing', urls, output };
    };
    if (id !== undefined && reads.has(id)) return stateOf(id);
    if (request.method !== 'POST' || pathname !== `/v1/models/${packageModels.video}/predictions`)
      return answer(response, 404, { detail: 'The requested resource could not be found.', status: 404 });
    const parsed = order.safeParse(JSON.parse(body.toString()));
    if (!parsed.success) return answer(response, 422, { detail: '- input.prompt is required', status: 422 });
    orders.push(parsed.data.input);
    const ordered = randomUUID();
    reads.set(ordered, 0);
    return stateOf(ordered);
  });
  return { ...party, key: providerKey, orders };
}

/** Google refuses a wrong key with 400. */
export async function startGoogle(): Promise<PackageParty> {
  const orders: Record<string, unknown>[] = [];
  const order = z.looseObject({
    contents: z.array(z.object({ role: z.enum(['user', 'model']), parts: z.array(z.looseObject({})).min(1) })).min(1),
  });
  const party = await startParty((request, body, response) => {
    if (request.headers['x-goog-api-key'] !== providerKey)
      throw new Refusal(400, 'API key not valid. Please pass a valid API key.', { status: 'INVALID_ARGUMENT' });
    const [, model, method] = /^\/v1beta\/models\/([\w.-]+):(\w+)/.exec(request.url ?? '') ?? [];
    if (model !== packageModels.chat)
      throw new Refusal(404, `models/${model} is not found for API version v1beta`, { status: 'NOT_FOUND' });
    const parsed = order.safeParse(JSON.parse(body.toString()));
    if (!parsed.success) throw new Refusal(400, '* GenerateContentRequest.contents: contents is not specified');
    orders.push(parsed.data);
    const chunk = {
      candidates: [
        { content: { role: 'model', parts: [{ text: 'Hello from Gemini.' }] }, index: 0, finishReason: 'STOP' },
      ],
      usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 3, totalTokenCount: 12 },
    };
    if (method === 'generateContent') return chunk;
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: ${JSON.stringify(chunk)}\r\n\r\n`);
    return undefined;
  });
  return { ...party, key: providerKey, orders };
}

function answer(response: Parameters<Parameters<typeof startParty>[0]>[2], status: number, body: object): undefined {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
