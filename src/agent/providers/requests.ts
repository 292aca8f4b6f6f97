/** Calls to providers of images and videos on OpenAI's wire. */
import { createMediaCall } from './mediafetch.ts';

export interface ProviderSettings {
  readonly url: string;
  readonly apiKey: string | undefined;
  readonly name: string | undefined;
  /** Of an entry of MODELS_FILE. Not sent to other hosts. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly query?: Readonly<Record<string, string>> | undefined;
}

/** Some parameters that compatible servers accept are unknown to OpenAI, which refuses them. */
export const isOpenAi = (url: string) => /(?:^|\.)openai\.(?:com|azure\.com)$/.test(new URL(url).hostname);

export interface ProviderCall {
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
