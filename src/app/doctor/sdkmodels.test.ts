import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dataLines, json, startWireServer, type WireServer } from '../../../test/agent/providers/wire.fixture.ts';
import { checkSdkModel, describeImagePackage } from './sdkmodels.ts';

let server: WireServer;
beforeAll(async () => {
  server = await startWireServer();
});
afterAll(() => server.close());

const optionsOf = (model: string) => ({
  id: 'best',
  provider: 'anthropic' as const,
  baseUrl: `${server.url}/v1`,
  model,
  apiKey: 'a key',
  headers: {},
  query: {},
});
const message = (text: string) => ({
  type: 'message',
  id: 'msg_1',
  model: 'claude',
  content: [{ type: 'text', text }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 1, output_tokens: 1 },
});

describe('the doctor', () => {
  it('requests a word from a model of a package', async () => {
    server.on('ready-', json(message('Ready.')));
    await checkSdkModel(optionsOf('ready-'), 10_000);
    expect(server.requests.at(-1)).toMatchObject({ path: '/v1/messages', headers: { 'x-api-key': 'a key' } });
  });

  it.each([
    [
      'rejected-',
      json({ type: 'error', error: { type: 'authentication_error', message: 'x' } }, 401),
      'rejects the key (401)',
    ],
    ['unknown-', json({ type: 'error', error: { type: 'not_found_error', message: 'x' } }, 404), 'returns 404'],
    ['garbage-', { body: dataLines({}) }, 'check the entry best of MODELS_FILE'],
  ])('%s is a fault', async (model, answer, reason) => {
    server.on(model, answer);
    await expect(checkSdkModel(optionsOf(model), 10_000)).rejects.toThrow(reason);
  });

  it('names the package of an image model', async () => {
    const settings = { provider: 'fal', url: 'offline', apiKey: 'x', name: 'fal-ai/a', editName: undefined } as const;
    expect(await describeImagePackage(settings)).toBe('fal-ai/a by the package of fal; the key is not checked');
  });
});
