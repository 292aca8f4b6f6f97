/** Images by an OpenAI-compatible provider: `/images/generations`, `/images/edits`. */
import { z } from 'zod';
import { type Generated, type Image, type ImageGenerator, ProviderFailed, type Ratio, takesAll } from './generators.ts';
import { parseJson } from './mediafetch.ts';
import { callProvider, isOpenAi, type ProviderSettings } from './requests.ts';

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
