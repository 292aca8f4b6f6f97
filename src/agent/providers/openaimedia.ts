/** Images and videos by an OpenAI-compatible provider: `/images/generations`, `/images/edits`, `/videos`. */
import { z } from 'zod';
import { parseJson } from '#platform/json.ts';
import {
  type Generated,
  type Image,
  type ImageGenerator,
  OrderRefused,
  ProviderFailed,
  type Ratio,
  takesAll,
  type VideoGenerator,
} from './generators.ts';
import { createMediaCall } from './mediafetch.ts';

export const imageSizes = {
  '1:1': '1024x1024',
  '4:3': '1536x1024',
  '16:9': '1536x1024',
  '3:4': '1024x1536',
  '9:16': '1024x1536',
} as const satisfies Record<Ratio, string>;
export const imageTimeoutMs = 180_000;
export const maxImageBytes = 96 * 1024 * 1024;
const made = z.object({
  data: z.array(z.object({ b64_json: z.string().nullish(), url: z.string().nullish() })).min(1),
});

export function openImageProvider(
  settings: ProviderSettings & { readonly editName?: string | undefined },
  timeoutMs = imageTimeoutMs,
): ImageGenerator {
  const limits = { timeoutMs, maxBytes: maxImageBytes };
  const call = (path: string, rest: { json?: unknown; form?: FormData; signal: AbortSignal }) =>
    callProvider(settings, 'image', { method: 'POST', path, ...limits, ...rest });
  const fetchFrom = (url: string, signal: AbortSignal) =>
    callProvider(settings, 'image', { method: 'GET', path: url, ...limits, signal });
  const model = settings.name;
  const readImage = async (answer: Body, signal: AbortSignal): Promise<Image & Generated> => ({
    ...(await imageIn(answer, (url) => fetchFrom(url, signal))),
    model,
  });
  return {
    // OpenAI refuses a seed, and most other servers accept one.
    takes: { ...takesAll, seed: !isOpenAi(settings.url) },
    async generate({ prompt, ratio, seed, quality, signal }) {
      const json = { model, prompt, n: 1, size: imageSizes[ratio], seed, quality };
      return readImage(await call('/images/generations', { json, signal }), signal);
    },
    async edit({ prompt, sources, mask, ratio, seed, quality, signal }) {
      const form = new FormData();
      const editModel = settings.editName ?? model;
      if (editModel !== undefined) form.set('model', editModel);
      form.set('prompt', prompt);
      const field = sources.length === 1 ? 'image' : 'image[]';
      for (const { bytes, mime } of sources)
        form.append(field, new Blob([new Uint8Array(bytes)], { type: mime }), 'source');
      if (mask !== undefined) form.set('mask', new Blob([new Uint8Array(mask.bytes)], { type: mask.mime }), 'mask.png');
      if (ratio !== undefined) form.set('size', imageSizes[ratio]);
      if (seed !== undefined) form.set('seed', String(seed));
      if (quality !== undefined) form.set('quality', quality);
      return { ...(await readImage(await call('/images/edits', { form, signal }), signal)), model: editModel };
    },
  };
}

interface Body {
  readonly bytes: Uint8Array;
}

/** In the answer itself, or at an address that the provider names. What it really is the media service finds out. */
async function imageIn({ bytes }: Body, fetchFrom: (url: string) => Promise<Body>): Promise<Image> {
  const parsed = made.safeParse(parseJson(bytes));
  const first = parsed.success ? parsed.data.data[0] : undefined;
  const found = first?.b64_json
    ? Buffer.from(first.b64_json, 'base64')
    : first?.url && /^https?:\/\//.test(first.url)
      ? (await fetchFrom(first.url)).bytes
      : undefined;
  if (!found?.length) throw new ProviderFailed('The image provider returned no image.');
  return describeImage(found);
}

/** With the type that its first bytes show. The media service examines the rest. */
export function describeImage(bytes: Uint8Array): Image {
  const head = Buffer.from(bytes.subarray(0, 12));
  if (head[0] === 0xff && head[1] === 0xd8) return { bytes, mime: 'image/jpeg' };
  if (head.toString('latin1', 8, 12) === 'WEBP') return { bytes, mime: 'image/webp' };
  return { bytes, mime: 'image/png' };
}

// Calls to providers of images and videos on OpenAI's wire.

export interface ProviderSettings {
  readonly url: string;
  readonly apiKey: string | undefined;
  readonly name: string | undefined;
  /** Of an entry of MODELS_FILE. Not sent to other hosts. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly query?: Readonly<Record<string, string>> | undefined;
}

/** Some parameters that compatible servers accept are unknown to OpenAI, which refuses them. */
const isOpenAi = (url: string) => /(?:^|\.)openai\.(?:com|azure\.com)$/.test(new URL(url).hostname);

interface ProviderCall {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Below the provider's URL, or a URL that the provider named. */
  readonly path: string;
  readonly json?: unknown;
  readonly form?: FormData;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
}

/** Retried and bounded (docs/specification/agent.md#provider-failures). Rejects as `createMediaFetch` does. */
export async function callProvider(
  { url, apiKey, headers: own = {}, query = {} }: ProviderSettings,
  what: string,
  call: ProviderCall,
): Promise<{ readonly bytes: Uint8Array; readonly mime: string }> {
  const { method, path, json, form, timeoutMs, maxBytes, signal } = call;
  const isForeign = !path.startsWith('/');
  const headers = {
    ...(isForeign ? {} : { ...(apiKey && { authorization: `Bearer ${apiKey}` }), ...own }),
    ...(json === undefined ? {} : { 'content-type': 'application/json' }),
  };
  const body = form ?? (json === undefined ? null : JSON.stringify(json));
  const sendRequest = createMediaCall({ what, baseUrl: url, timeoutMs, maxBytes });
  const search = new URLSearchParams(query).toString();
  const { bytes, headers: sent } = await sendRequest(isForeign ? path : `${url}${path}${search && `?${search}`}`, {
    method,
    headers,
    body,
    ...(signal && { signal }),
  });
  return { bytes, mime: sent.get('content-type') ?? '' };
}

// Videos by an OpenAI-compatible provider: `/videos` orders them, is polled until they are done, and returns the file.

/** The provider has these two sizes. */
const [wide, tall] = [{ width: 1280, height: 720 } as const, { width: 720, height: 1280 } as const];
const sizes = { '1:1': wide, '4:3': wide, '16:9': wide, '3:4': tall, '9:16': tall } as const satisfies Record<
  Ratio,
  object
>;
export const callTimeoutMs = 30_000;
export const contentTimeoutMs = 300_000;
/** Responses to the cancellation of an order that is over, or by a server that cannot cancel. */
const ended = [404, 405, 409, 410, 501];
export const maxClipBytes = 512 * 1024 * 1024;

const state = z.object({
  id: z.string(),
  status: z.string(),
  error: z.object({ message: z.string().nullish() }).nullish(),
});

/** A first frame is a file, which only a form can carry. */
function formOf(fields: Readonly<Record<string, string | number | undefined>>, { bytes, mime }: Image): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) form.set(name, String(value));
  form.set('input_reference', new Blob([new Uint8Array(bytes)], { type: mime }), 'first-frame');
  return form;
}

export function openVideoProvider(settings: ProviderSettings, pollEveryMs = 3000): VideoGenerator {
  const limits = { timeoutMs: callTimeoutMs, maxBytes: 1024 * 1024 };
  const call = async (request: Pick<ProviderCall, 'method' | 'path' | 'json' | 'form' | 'signal'>) => {
    const parsed = state.safeParse(parseJson((await callProvider(settings, 'video', { ...limits, ...request })).bytes));
    if (!parsed.success) throw new ProviderFailed('The video provider did not return a video.');
    return parsed.data;
  };
  const pathOf = (id: string) => `/videos/${encodeURIComponent(id)}`;
  return {
    pollEveryMs,
    takes: { ...takesAll, seed: !isOpenAi(settings.url), maxReferences: 0 },
    // OpenAI refuses an image of another size than the video.
    frameSizeOf: (ratio) => sizes[ratio],
    async order({ prompt, ratio, duration, seed, firstFrame }) {
      const seconds = duration === undefined ? undefined : String(duration);
      const { width, height } = sizes[ratio];
      const json = { model: settings.name, prompt, size: `${width}x${height}`, seconds, seed };
      const body = firstFrame === undefined ? { json } : { form: formOf(json, firstFrame) };
      return { providerId: (await call({ method: 'POST', path: '/videos', ...body })).id };
    },
    async isMade(id, signal) {
      const { status, error } = await call({ method: 'GET', path: pathOf(id), signal });
      if (status === 'failed' || status === 'cancelled')
        throw new OrderRefused(`The video provider failed: ${error?.message?.slice(0, 300) ?? 'no reason given'}`);
      return status === 'completed';
    },
    async download({ providerId, signal }) {
      const content = { method: 'GET', timeoutMs: contentTimeoutMs, maxBytes: maxClipBytes, signal } as const;
      const path = `${pathOf(providerId)}/content`;
      const { bytes, mime } = await callProvider(settings, 'video', { ...content, path });
      return { bytes, model: settings.name, mime: /^video\/[\w.+-]+/.exec(mime)?.[0] ?? 'video/mp4' };
    },
    async cancel(id, signal) {
      const call = { method: 'DELETE', path: pathOf(id), ...limits, signal } as const;
      await callProvider(settings, 'video', call).catch((error: unknown) => {
        const isOver = error instanceof ProviderFailed && ended.includes(error.status ?? 0);
        if (!isOver && !(error instanceof OrderRefused)) throw error;
      });
    },
  };
}
