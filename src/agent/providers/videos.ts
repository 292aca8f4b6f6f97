/** Videos by an OpenAI-compatible provider: `/videos` orders them, is polled until they are done, and returns the file. */
import { z } from 'zod';
import { type Image, OrderRefused, ProviderFailed, type Ratio, takesAll, type VideoGenerator } from './generators.ts';
import { parseJson } from './mediafetch.ts';
import { callProvider, isOpenAi, type ProviderCall, type ProviderSettings } from './requests.ts';

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
