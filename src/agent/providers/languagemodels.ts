/** Opens one language model: on OpenAI's wire, or by a package of the AI SDK. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { readAtMost } from '#platform/http/bodies.ts';
import { outgoingFetch } from '#platform/version.ts';
import type { ModelEntry } from '../modelsfile.ts';
import { mergingProvider, withMergedDeltas } from './mergedframes.ts';
import { openSdkProvider } from './sdkproviders.ts';

type LanguageModelOptions = Pick<ModelEntry, 'id' | 'provider' | 'baseUrl' | 'model'> & {
  readonly apiKey: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
};

/** Retries and time limits are those of `createResilientModel`. Throws StartFault as `openSdkProvider` does. */
export async function openLanguageModel(options: LanguageModelOptions): Promise<LanguageModelV4> {
  const { id, provider = mergingProvider, baseUrl, model, apiKey, headers, query } = options;
  const fetch = withoutRefusedFields(createFetch(query));
  if (provider === mergingProvider) {
    return createOpenAICompatible({
      name: 'model',
      // MODELS_FILE is refused without it.
      baseURL: baseUrl ?? '',
      fetch: withMergedDeltas(fetch),
      includeUsage: true,
      supportsStructuredOutputs: true,
      headers,
      ...(apiKey && { apiKey }),
    }).chatModel(model);
  }
  const setting = `MODELS_FILE: the model ${id}`;
  const opened = await openSdkProvider({ provider, setting, apiKey, baseUrl, headers, fetch });
  return opened.languageModel(model);
}

/**
 * Adds the query, which packages have no option for. Redirects are refused, because a key in a header of its own would
 * follow them to another host.
 */
function createFetch(query: Readonly<Record<string, string>>): typeof fetch {
  return (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return outgoingFetch(url, { ...init, redirect: 'error' });
  };
}

// Servers of the OpenAI wire differ in the fields that they know, and some refuse a request with another one (docs/providers.md).
// A field that a server refuses is left out of this and all further requests.

type RequestBody = Exclude<RequestInit['body'], undefined>;
type Body = Readonly<Record<string, unknown>>;

/** Fields that answers do not depend on, each with how to do without it. */
const dispensable: Readonly<Record<string, (body: Body) => Body>> = {
  // Usage is then unknown, or reported anyway.
  stream_options: ({ stream_options, ...rest }) => rest,
  // Thoughts of earlier answers. DeepSeek requires them, Groq and Mistral refuse them.
  reasoning_content: (body) => ({ ...body, messages: withoutReasoning(body.messages) }),
  // Signatures of Gemini's calls, which no other server knows.
  extra_content: (body) => ({ ...body, messages: withoutSignatures(body.messages) }),
  // Reasoning models of OpenAI have another name for it.
  max_tokens: ({ max_tokens, ...rest }) => ({ ...rest, max_completion_tokens: max_tokens }),
};

function withoutReasoning(messages: unknown): unknown {
  return mapObjects(messages, ({ reasoning_content, ...rest }) => rest);
}

function withoutSignatures(messages: unknown): unknown {
  return mapObjects(messages, (message) =>
    message.tool_calls === undefined
      ? message
      : { ...message, tool_calls: mapObjects(message.tool_calls, ({ extra_content, ...rest }) => rest) },
  );
}

function mapObjects(list: unknown, change: (object: Body) => Body): unknown {
  return Array.isArray(list) ? list.map((entry: unknown) => change(Object(entry))) : list;
}

const maxErrorBytes = 1024 * 1024;

/** Returns `send` with a memory of what its server refuses. Bodies of errors are bounded. */
function withoutRefusedFields(send: typeof fetch): typeof fetch {
  const refused = new Set<string>();
  return async (url, init) => {
    for (;;) {
      const response = await send(url, { ...init, body: withoutFields(init?.body ?? null, refused) });
      if (response.ok || response.body === null) return response;
      const { status, statusText, headers } = response;
      const error = await readAtMost(response.body, maxErrorBytes, () => new Error('the error is too large'));
      const field =
        status === 400 || status === 422 ? findRefused(error.toString('utf8'), init?.body, refused) : undefined;
      if (field === undefined) return new Response(error, { status, statusText, headers });
      refused.add(field);
    }
  };
}

function withoutFields(body: RequestBody, refused: ReadonlySet<string>): RequestBody {
  if (typeof body !== 'string' || refused.size === 0) return body;
  const fields = [...refused].flatMap((field) => dispensable[field] ?? []);
  return JSON.stringify(fields.reduce((rest, leaveOut) => leaveOut(rest), JSON.parse(body)));
}

/** A server that misses a field names it too. */
const required = /must be (?:passed|provided|set)|is required|missing/i;

function findRefused(error: string, body: unknown, refused: ReadonlySet<string>): string | undefined {
  if (typeof body !== 'string' || required.test(error)) return undefined;
  return Object.keys(dispensable).find(
    (field) => !refused.has(field) && error.includes(field) && body.includes(`"${field}"`),
  );
}
