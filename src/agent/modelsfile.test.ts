import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assertKeys, readModelsFile } from './modelsfile.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'models-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const entry = { id: 'a', baseUrl: 'https://models.example/v1', model: 'maker/a' };

async function read(content: unknown) {
  const path = join(folder, 'models.json');
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return readModelsFile(path);
}

describe('MODELS_FILE', () => {
  it('is an array of models', async () => {
    const whole = {
      ...entry,
      label: 'A',
      apiKeyEnv: 'A_KEY',
      vision: false,
      tools: true,
      plans: ['pro'],
      credits: 3,
      contextTokens: 8192,
      fallback: 'b',
      temperature: 0.5,
      maxOutputTokens: 100,
      reasoningEffort: 'low',
      headers: { 'x-a': '1' },
      query: { v: '2' },
    };
    const models = [whole, { ...entry, id: 'b' }];
    expect(await read(models)).toEqual(models.map((model) => ({ kind: 'chat', ...model })));
  });

  it('has models of images and videos, with fallbacks of their kind', async () => {
    const place = { model: 'm', baseUrl: 'https://models.example/v1' };
    const image = { ...place, kind: 'image', id: 'fast', credits: 1, ratios: ['1:1'], maxCount: 2, fallback: 'fine' };
    const models = [
      image,
      { ...place, kind: 'image', id: 'fine' },
      { ...place, kind: 'video', id: 'film', durations: [4] },
    ];
    expect(await read(models)).toEqual(models);
    await expect(read([{ ...image, fallback: 'film' }, ...models.slice(1)])).rejects.toThrow('0.fallback');
    await expect(read([{ ...image, vision: true }])).rejects.toThrow('vision');
  });

  it('can name the offline renderer for images and videos, which no language model has', async () => {
    const models = [{ kind: 'image', id: 'a', model: 'a', baseUrl: 'offline' }];
    expect(await read(models)).toEqual(models);
    await expect(read([{ ...models[0], provider: 'google' }])).rejects.toThrow('0.baseUrl');
    await expect(read([{ ...models[0], baseUrl: 'ftp://x' }])).rejects.toThrow('0.baseUrl: must be');
    await expect(read([{ ...entry, baseUrl: 'offline' }])).rejects.toThrow('0.baseUrl');
  });

  it('names every missing package and key in one fault', async () => {
    const models = [
      { id: 'one', model: 'a', provider: 'azure', apiKeyEnv: 'UNSET_KEY_OF_ONE' },
      { ...entry, id: 'two', apiKeyEnv: 'UNSET_KEY_OF_TWO' },
      { ...entry, id: 'three', apiKeyEnv: 'PATH' },
      { kind: 'image', id: 'four', model: 'b', provider: 'togetherai' },
    ];
    const fault = await read(models).catch(String);
    expect(fault).toContain('0.provider: needs the package @ai-sdk/azure');
    expect(fault).toContain('3.provider: needs the package @ai-sdk/togetherai');
    expect(fault).toContain('the model one needs UNSET_KEY_OF_ONE, which is not set');
    expect(fault).toContain('the model two needs UNSET_KEY_OF_TWO, which is not set');
    expect(fault).not.toContain('three');
    const usable = await read(models.filter((model) => !('provider' in model)).map((one) => ({ ...one })));
    expect(() => assertKeys([...usable, { ...usable[0], id: 'five' } as never], () => '')).toThrow(
      'MODELS_FILE: the model two needs UNSET_KEY_OF_TWO, which is not set; the model three needs PATH, which is not set; the model five needs UNSET_KEY_OF_TWO, which is not set.',
    );
    expect(() => assertKeys(usable, () => 'a key')).not.toThrow();
  });

  it.each(['anthropic', 'openai', 'google'])('needs no address with the package %s', async (provider) => {
    const models = [{ id: 'a', model: 'a', provider }];
    expect(await read(models)).toEqual(models.map((model) => ({ kind: 'chat', ...model })));
  });

  it.each([
    ['no JSON', '[', 'is not valid JSON'],
    ['no array', { models: [] }, 'the file'],
    ['no model', [], 'the file'],
    ['an entry without an id', [{ ...entry, id: undefined }], '0.id'],
    ['an entry without an address', [{ ...entry, baseUrl: undefined }], '0.baseUrl'],
    ['no address for the compatible wire', [{ id: 'a', model: 'a', provider: 'openai-compatible' }], '0.baseUrl'],
    [
      'a package that is not installed',
      [{ id: 'a', model: 'a', provider: 'azure' }],
      'needs the package @ai-sdk/azure',
    ],
    ['a wrong address', [{ ...entry, baseUrl: 'ftp://models.example' }], '0.baseUrl'],
    ['the same id twice', [entry, entry], '1.id: is not unique'],
    ['a fallback that does not exist', [{ ...entry, fallback: 'b' }], '0.fallback'],
    ['a fallback to itself', [{ ...entry, fallback: 'a' }], '0.fallback'],
    ['a plan that does not exist', [{ ...entry, plans: ['gold'] }], '0.plans.0'],
    ['a negative price', [{ ...entry, credits: -1 }], '0.credits'],
    ['an unknown field', [{ ...entry, apikey: 'x' }], 'apikey'],
    ['a provider that is not supported', [{ ...entry, provider: 'other' }], '0.provider'],
  ])('%s is a fault that is named', async (_title, content, message) => {
    await expect(read(content)).rejects.toThrow(message);
  });

  it('reports a missing file', () => {
    expect(() => readModelsFile(join(folder, 'none.json'))).toThrow('cannot be read');
  });
});
