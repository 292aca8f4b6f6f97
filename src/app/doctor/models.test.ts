import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  dataLines,
  events,
  json,
  startWireServer,
  type WireServer,
} from '../../../test/agent/providers/wire.fixture.ts';
import { modelsOf } from '../../../test/agent/rig.fixture.ts';
import { checkModel } from './models.ts';

let server: WireServer;
beforeAll(async () => {
  vi.stubEnv('DOCTOR_TEST_KEY', 'a key');
  server = await startWireServer();
  const choice = { index: 0, delta: { content: 'Ready' }, finish_reason: 'stop' };
  server.on('/chat/completions', events(dataLines({ choices: [choice] })));
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { type: 'message', id: 'm', role: 'assistant', model: 'm', content: [], stop_reason: null, usage };
  const answer = dataLines(
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Ready' } },
  );
  server.on('ready-', events(answer));
  server.on('rejected-', json({ type: 'error', error: { type: 'authentication_error', message: 'x' } }, 401));
  server.on('unknown-', json({ type: 'error', error: { type: 'not_found_error', message: 'x' } }, 404));
  server.on('garbage-', events(dataLines({})));
});
afterAll(() => {
  vi.unstubAllEnvs();
  server.close();
});

const wanted = { headers: { 'x-title': 'Bees' }, query: { 'api-version': '2026-01-01' } };
const other = { headers: { 'x-title': 'Ants' }, query: { 'api-version': '2025-01-01' } };
const bearer = { authorization: 'Bearer a key' };

describe('the doctor sends the key, headers and query', () => {
  it('of MODEL_*', async () => {
    const url = `${server.url}/v1`;
    await checkModel({ model: modelsOf({ url, apiKey: 'a key', names: ['best'], ...wanted }) });
    const path = '/v1/chat/completions?api-version=2026-01-01';
    expect(server.requests.at(-1)).toMatchObject({ path, headers: { ...bearer, ...wanted.headers } });
  });

  it.each([
    ['of an entry', 'openai-compatible', wanted, other, '/chat/completions', bearer],
    ['of MODEL_* for an entry without them', 'openai-compatible', {}, wanted, '/chat/completions', bearer],
    ['of an entry, to a package', 'anthropic', wanted, other, '/messages', { 'x-api-key': 'a key' }],
    ['of MODEL_*, to a package', 'anthropic', {}, wanted, '/messages', { 'x-api-key': 'a key' }],
  ] as const)('%s', async (_title, provider, ofEntry, ofModel, path, key) => {
    const baseUrl = `${server.url}/v1`;
    const file = [{ id: 'best', provider, model: 'ready-best', baseUrl, apiKeyEnv: 'DOCTOR_TEST_KEY', ...ofEntry }];
    await checkModel({ model: modelsOf({ file, ...ofModel }) });
    expect(server.requests.at(-1)).toMatchObject({
      path: `/v1${path}?api-version=2026-01-01`,
      headers: { ...key, ...wanted.headers },
    });
  });
});

it.each([
  ['rejected-', 'rejects the key (401); check DOCTOR_TEST_KEY'],
  ['unknown-', 'returns 404 for the model unknown-; check the entry best of MODELS_FILE'],
  ['garbage-', 'check the entry best of MODELS_FILE'],
])('a model of a package: %s is a fault', async (model, reason) => {
  const entry = {
    id: 'best',
    provider: 'anthropic',
    model,
    baseUrl: `${server.url}/v1`,
    apiKeyEnv: 'DOCTOR_TEST_KEY',
  } as const;
  await expect(checkModel({ model: modelsOf({ file: [entry] }) })).rejects.toThrow(reason);
});
