/** The settings of a model, in the requests to its provider (docs/providers.md#settings-of-a-model). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { offlineModel } from '#local/model/model.ts';
import { createLog } from '#platform/log.ts';
import { json, startWireServer, type WireServer } from '../../../test/agent/providers/wire.fixture.ts';
import { modelsOf } from '../../../test/agent/rig.fixture.ts';
import type { ModelEntry } from '../modelsfile.ts';
import { openLanguageModel } from './languagemodels.ts';
import { openModels } from './models.ts';

let server: WireServer;
beforeAll(async () => {
  server = await startWireServer();
  // The requests matter here, not their responses.
  server.on('/v1/', json({}, 400));
});
afterAll(() => server.close());

const log = createLog({ level: 'silent' });
const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Hello.' }] }];

type Settings = Partial<
  Pick<ModelEntry, 'temperature' | 'maxOutputTokens' | 'reasoningEffort'> & Record<'headers' | 'query', { x: string }>
>;
const wanted: Settings = { temperature: 0.3, maxOutputTokens: 777, headers: { x: 'Bees' }, query: { x: 'v 1' } };
const other: Settings = { temperature: 0.9, maxOutputTokens: 999, headers: { x: 'Ants' }, query: { x: 'v 2' } };

/** The path and the body without the conversation, as the provider receives them. */
async function requestOf(provider: ModelEntry['provider'], model: string, ofEntry: Settings, ofModel: Settings) {
  const entry = { id: 'best', provider, model, baseUrl: `${server.url}/v1`, apiKeyEnv: 'KEY', ...ofEntry };
  const settings = modelsOf({ file: [entry], ...ofModel });
  const models = await openModels({ settings, offline: offlineModel, log, readKey: () => 'a key' });
  await expect(models.pick('best').model.doStream({ prompt })).rejects.toThrow('Bad Request');
  const { path, headers, body } = server.requests.at(-1) ?? {};
  const { model: _, messages, input, contents, stream, ...fields } = Object(body);
  return { path, header: headers?.x, fields };
}

describe.each([
  ['an entry', wanted, {}],
  ['MODEL_*', {}, wanted],
  ['an entry before those of MODEL_*', wanted, other],
])('settings of %s reach', (_title, ofEntry, ofModel) => {
  const openAi = { max_output_tokens: 777, store: false };
  const thoughts = ['reasoning.encrypted_content'];
  const google = { maxOutputTokens: 777, temperature: 0.3 };
  it.each([
    [
      'openai-compatible',
      'maker/model',
      'low',
      '/chat/completions?x=v+1',
      { max_tokens: 777, temperature: 0.3, reasoning_effort: 'low', stream_options: { include_usage: true } },
    ],
    ['openai', 'gpt-4o', 'low', '/responses?x=v+1', { ...openAi, temperature: 0.3 }],
    [
      'openai',
      'gpt-5-mini',
      'low',
      '/responses?x=v+1',
      { ...openAi, include: thoughts, reasoning: { effort: 'low', summary: 'detailed' } },
    ],
    [
      'openai',
      'gpt-5.1',
      'none',
      '/responses?x=v+1',
      { ...openAi, include: thoughts, reasoning: { effort: 'none' }, temperature: 0.3 },
    ],
    [
      'anthropic',
      'claude-haiku-4-5',
      'low',
      '/messages?x=v+1',
      { max_tokens: 777 + 6400, thinking: { type: 'enabled', budget_tokens: 6400 } },
    ],
    [
      'anthropic',
      'claude-haiku-4-5',
      'none',
      '/messages?x=v+1',
      { max_tokens: 777, thinking: { type: 'disabled' }, temperature: 0.3 },
    ],
    [
      'anthropic',
      'claude-sonnet-5',
      'low',
      '/messages?x=v+1',
      {
        max_tokens: 777,
        thinking: { type: 'adaptive', display: 'summarized' },
        output_config: { effort: 'low' },
      },
    ],
    [
      'google',
      'gemini-2.5-flash',
      'low',
      '/models/gemini-2.5-flash:streamGenerateContent?alt=sse&x=v+1',
      { generationConfig: { ...google, thinkingConfig: { thinkingBudget: 6554 } } },
    ],
    [
      'google',
      'gemini-3-pro-preview',
      'low',
      '/models/gemini-3-pro-preview:streamGenerateContent?alt=sse&x=v+1',
      { generationConfig: { ...google, thinkingConfig: { thinkingLevel: 'low' } } },
    ],
  ] as const)('%s, %s with the effort %s', async (provider, model, reasoningEffort, path, fields) => {
    const withEffort = (settings: Settings) => (settings === wanted ? { ...settings, reasoningEffort } : settings);
    const ofOther = ofModel === other ? { ...other, reasoningEffort: 'high' as const } : withEffort(ofModel);
    const request = await requestOf(provider, model, withEffort(ofEntry), ofOther);
    expect(request).toEqual({ path: `/v1${path}`, header: 'Bees', fields });
  });
});

it.each(['openai-compatible', 'anthropic'] as const)(
  '%s: headers, which may contain a key, do not follow a redirect',
  async (provider) => {
    const base = `/from-${provider}`;
    server.on(base, { status: 307, headers: { location: `/to-${provider}` } });
    const options = { id: 'best', provider, model: 'best', baseUrl: server.url + base, apiKey: 'a key' };
    const model = await openLanguageModel({ ...options, headers: { 'api-key': 'another key' }, query: {} });
    await expect(model.doStream({ prompt })).rejects.toThrow('redirect');
    const paths = server.requests.map(({ path }) => path);
    expect(paths.filter((path) => path.startsWith(base))).toHaveLength(1);
    expect(paths.filter((path) => path.startsWith('/to-'))).toEqual([]);
  },
);
