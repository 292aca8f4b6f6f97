import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { cosine, type Embedder } from '../embedder.ts';
import { createLocalEmbedder } from './local.ts';

/** A folder with `model.onnx` and `tokenizer.json` (tools/embedder/onnx_model.py), and the entry file of onnxruntime-node. */
const { EMBEDDER_TEST_FOLDER: folder = '', ONNX_TEST_RUNTIME: runtime = '' } = process.env;

describe.skipIf(folder === '' || runtime === '')('a sentence model in the process', () => {
  let embedder: Embedder;
  beforeAll(() => {
    embedder = createLocalEmbedder({ model: folder, dataDir: 'unused', runtime });
  });
  afterAll(() => embedder.close());

  it('finds the same meaning in another language', async () => {
    const [home, heim, dog] = await embedder.embed(['I live in Berlin', 'Ich wohne in Berlin', 'My dog is called Rex']);
    if (home === undefined || heim === undefined || dog === undefined) throw new Error('A vector is missing');
    expect(cosine(home, home)).toBeCloseTo(1, 5);
    expect(cosine(home, heim)).toBeGreaterThan(cosine(home, dog) + 0.05);
    const question = await embedder.embedQuery('¿Dónde vivo?');
    expect(cosine(question, home)).toBeGreaterThan(cosine(question, dog));
  }, 60_000);

  it('returns the same vector alone and in a batch of other lengths', async () => {
    const text = 'The logo belongs in the top left corner';
    const [alone = new Float32Array()] = await embedder.embed([text]);
    const long = 'A long text about a lighthouse. '.repeat(40);
    const [, among = new Float32Array()] = await embedder.embed([long, text, 'Short']);
    expect(cosine(alone, among)).toBeGreaterThan(0.999);
  }, 60_000);

  it('embeds texts that are empty, broken or longer than the model reads', async () => {
    const vectors = await embedder.embed(['', ' ', '👩‍🚀\u0000', 'word '.repeat(20_000), '\ud800']);
    expect(vectors.map((vector) => cosine(vector, vector).toFixed(3))).toEqual(Array(5).fill('1.000'));
  }, 120_000);
});

describe.skipIf(runtime === '')('a model that cannot be used', () => {
  let broken: string;
  beforeAll(async () => {
    broken = await mkdtemp(join(tmpdir(), 'atelier-model-'));
    await writeFile(join(broken, 'model.onnx'), 'no model');
    await writeFile(join(broken, 'tokenizer.json'), '{"added_tokens":[],"model":{"type":"WordPiece","vocab":{}}}');
  });
  afterAll(() => rm(broken, { recursive: true, force: true }));

  it('another kind of vocabulary, or no model at all: embedder_unavailable, each time', async () => {
    const embedder = createLocalEmbedder({ model: broken, dataDir: 'unused', runtime });
    await expect(embedder.embed(['a'])).rejects.toMatchObject({ code: 'embedder_unavailable' });
    await expect(embedder.embedQuery('a')).rejects.toMatchObject({ code: 'embedder_unavailable' });
    await embedder.close();
  }, 60_000);

  it.skipIf(folder === '')(
    'a damaged network: embedder_unavailable',
    async () => {
      await cp(join(folder, 'tokenizer.json'), join(broken, 'tokenizer.json'));
      expect((await readFile(join(broken, 'model.onnx'))).length).toBeLessThan(100);
      const embedder = createLocalEmbedder({ model: broken, dataDir: 'unused', runtime });
      await expect(embedder.embed(['a'])).rejects.toMatchObject({ code: 'embedder_unavailable' });
      await embedder.close();
    },
    60_000,
  );
});

describe('a model that cannot be loaded yet', () => {
  const vector = Float32Array.of(1, 0);
  /** Fails while the model is incomplete, as a native module may, and counts its loads. */
  const runtimeSource = `
    import { appendFileSync, readFileSync } from 'node:fs';
    const file = (name) => new URL(name, import.meta.url);
    appendFileSync(file('loads'), '.');
    if (readFileSync(file('model.onnx'), 'utf8') === 'incomplete') throw new Error('incomplete');
    export class Tensor {}
    const run = async () => ({ sentence_embedding: { dims: [1, ${vector.length}], data: Float32Array.of(${vector.join()}) } });
    export const InferenceSession = { create: async () => ({ inputNames: ['input_ids'], run }) };`;
  let model: string;
  beforeEach(async () => {
    model = await mkdtemp(join(tmpdir(), 'atelier-model-'));
    await writeFile(join(model, 'model.onnx'), 'incomplete');
    const tokenizer = { added_tokens: [], model: { type: 'Unigram', vocab: [['a', -1]] } };
    await writeFile(join(model, 'tokenizer.json'), JSON.stringify(tokenizer));
    await writeFile(join(model, 'runtime.mjs'), runtimeSource);
  });
  afterEach(() => rm(model, { recursive: true }));

  const open = (options = {}) =>
    createLocalEmbedder({ model, dataDir: 'unused', runtime: join(model, 'runtime.mjs'), ...options });
  const loads = async () => (await readFile(join(model, 'loads'))).length;

  it('is loaded by a later text', async () => {
    const embedder = open({ reloadAfterMs: 0 });
    await expect(embedder.embed(['a'])).rejects.toMatchObject({ code: 'embedder_unavailable' });
    await writeFile(join(model, 'model.onnx'), 'complete');
    expect(await embedder.embed(['a'])).toEqual([vector]);
    expect(await embedder.embedQuery('b')).toEqual(vector);
    expect(await loads()).toBe(2);
    await embedder.close();
  });

  it('is not loaded again for each text', async () => {
    const embedder = open();
    for (let text = 0; text < 3; text += 1)
      await expect(embedder.embedQuery('a')).rejects.toMatchObject({ code: 'embedder_unavailable' });
    expect(await loads()).toBe(1);
    await embedder.close();
  });
});

it('a start without the runtime is a fault that names the package', async () => {
  const folderOfFiles = await mkdtemp(join(tmpdir(), 'atelier-model-'));
  await writeFile(join(folderOfFiles, 'model.onnx'), '');
  await writeFile(join(folderOfFiles, 'tokenizer.json'), '');
  expect(() => createLocalEmbedder({ model: folderOfFiles, dataDir: 'unused' })).toThrow(
    /npm install --no-save onnxruntime-node@1\.30\.0/,
  );
  await rm(folderOfFiles, { recursive: true });
});
