/**
 * Videos by an OpenAI-compatible provider: `/videos` orders them, is polled until they are done, and returns the file.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { OrderRefused, ProviderFailed, type Ratio, type VideoGenerator } from './generators.ts';
import { parseJson } from './mediafetch.ts';
import { callProvider, type ProviderSettings } from './requests.ts';

const sizes: Readonly<Record<Ratio, string>> = {
  '1:1': '1280x720',
  '4:3': '1280x720',
  '16:9': '1280x720',
  '3:4': '720x1280',
  '9:16': '720x1280',
};
export const callTimeoutMs = 30_000;
export const contentTimeoutMs = 300_000;
export const maxClipBytes = 512 * 1024 * 1024;
/** For a video that the provider has accepted, in one attempt of its job. */
export const maxWaitMs = 30 * 60_000;

const state = z.object({
  id: z.string(),
  status: z.string(),
  error: z.object({ message: z.string().nullish() }).nullish(),
});

export function openVideoProvider(settings: ProviderSettings, pollEveryMs = 3000): VideoGenerator {
  const call = async (method: 'GET' | 'POST', path: string, signal: AbortSignal, json?: unknown) => {
    const options = { method, path, json, signal, timeoutMs: callTimeoutMs, maxBytes: 1024 * 1024 };
    const parsed = state.safeParse(parseJson((await callProvider(settings, 'video', options)).bytes));
    if (!parsed.success) throw new ProviderFailed('The video provider did not return a video.');
    return parsed.data;
  };
  return {
    async make({ prompt, ratio, providerId, onOrdered, signal }) {
      let id = providerId;
      if (id === null) {
        id = (await call('POST', '/videos', signal, { model: settings.name, prompt, size: sizes[ratio] })).id;
        await onOrdered(id);
      }
      const path = `/videos/${encodeURIComponent(id)}`;
      for (const startedAtMs = performance.now(); ; ) {
        const { status, error } = await call('GET', path, signal);
        if (status === 'completed') break;
        if (status === 'failed' || status === 'cancelled')
          throw new OrderRefused(`The video provider failed: ${error?.message?.slice(0, 300) ?? 'no reason given'}`);
        if (performance.now() - startedAtMs > maxWaitMs) throw new ProviderFailed('The video provider timed out.');
        await sleep(pollEveryMs, undefined, { signal });
      }
      const content = { method: 'GET', timeoutMs: contentTimeoutMs, maxBytes: maxClipBytes, signal } as const;
      const { bytes, mime } = await callProvider(settings, 'video', { ...content, path: `${path}/content` });
      return { bytes, model: settings.name, mime: /^video\/[\w.+-]+/.exec(mime)?.[0] ?? 'video/mp4' };
    },
  };
}
