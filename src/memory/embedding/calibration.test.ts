import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import type { Database } from '#platform/db/db.ts';
import { databaseEngines } from '../../../test/database.fixture.ts';
import type { MemoryTables } from '../tables.ts';
import { createBuiltinEmbedder } from './builtin.ts';
import {
  calibrateEmbedder,
  cosine,
  different,
  type Embedder,
  interpolate,
  measureCalibration,
  same,
  withCalibration,
} from './embedder.ts';

/** The same meanings, squeezed into high cosines as some models do. */
function squeezed(embedder: Embedder, share: number): Embedder {
  const squeeze = (vector: Float32Array) =>
    Float32Array.from([...vector.map((value) => value * Math.sqrt(1 - share)), Math.sqrt(share)]);
  return {
    ...embedder,
    name: `squeezed ${share}`,
    embed: async (texts) => (await embedder.embed(texts)).map(squeeze),
    embedQuery: async (text) => squeeze(await embedder.embedQuery(text)),
  };
}

describe('the measured calibration', () => {
  const builtin = createBuiltinEmbedder();

  it('puts most wordings of one fact above 0.9 and most pairs of facts below', async () => {
    const { points } = await measureCalibration(builtin);
    const similarities = async (pairs: readonly (readonly [string, string])[]) => {
      const vectors = await builtin.embed(pairs.flat());
      return pairs.map((_, place) =>
        interpolate(points, cosine(vectors[2 * place] as Float32Array, vectors[2 * place + 1] as Float32Array)),
      );
    };
    const above = (values: readonly number[]) => values.filter((value) => value > 0.9).length / values.length;
    expect(above(await similarities(same))).toBeGreaterThan(0.6);
    expect(above(await similarities(different))).toBeLessThan(0.2);
  });

  it('means the same for an embedder whose cosines are all high', async () => {
    const [{ points: plain }, { points: high }] = [
      await measureCalibration(builtin),
      await measureCalibration(squeezed(builtin, 0.7)),
    ];
    for (const value of [0, 0.2, 0.5, 0.8, 1])
      expect(interpolate(high, 0.7 + 0.3 * value)).toBeCloseTo(interpolate(plain, value), 1);
  });

  it('subtracts a share of the common part from queries, and preserves both similarities', async () => {
    const embedder = { ...squeezed(builtin, 0.7), centering: 0.5 };
    const calibration = await measureCalibration(embedder);
    expect(calibration.center).toHaveLength((await embedder.embedQuery('bees')).length);
    const centering = withCalibration(embedder, () => calibration);
    const similarity = async (query: string, text: string) => {
      const [vector = new Float32Array()] = await embedder.embed([text]);
      return centering.querySimilarityOf(cosine(await centering.embedQuery(query), vector));
    };
    expect(await similarity('I live in Berlin', 'I live in Berlin')).toBeGreaterThan(0.9);
    expect(await similarity('I live in Berlin', 'My dog is called Rex')).toBeLessThan(0.6);
  });

  it('rises with the cosine', async () => {
    const { points } = await measureCalibration(builtin);
    const values = Array.from({ length: 41 }, (_, place) => interpolate(points, place / 20 - 1));
    expect(values).toEqual(values.toSorted((left, right) => left - right));
  });

  it('is absent for an embedder that cannot separate the pairs', async () => {
    const blind = { centering: 0, embed: async (texts: readonly string[]) => texts.map((_, place) => oneAt(place)) };
    const none = { points: [], center: [], queryPoints: [] };
    expect(await measureCalibration(blind)).toEqual(none);
    const same = { centering: 0.5, embed: async (texts: readonly string[]) => texts.map(() => oneAt(0)) };
    expect(await measureCalibration(same)).toEqual(none);
    expect(interpolate([], 0.42)).toBe(0.42);
  });

  const oneAt = (place: number) => Float32Array.from({ length: 128 }, (_, index) => (index === place % 128 ? 1 : 0));
});

describe.each(databaseEngines)('the stored calibration on $name', (engine) => {
  let database: Database;
  beforeAll(async () => {
    if (!engine.missing) database = await engine.open(migrations);
  });
  afterAll(() => database?.close());

  it.skipIf(engine.missing)('is measured once per embedder across processes', async () => {
    const db = database.queries<MemoryTables>();
    const embedded: string[] = [];
    const base = createBuiltinEmbedder();
    const counting: Embedder = {
      ...base,
      name: 'counting',
      embed: (texts) => {
        embedded.push(...texts);
        return base.embed(texts);
      },
    };
    const first = calibrateEmbedder(counting, db);
    await Promise.all([first.embed(['a']), first.embed(['b']), first.embedQuery('c')]);
    const after = embedded.length;
    expect(new Set(embedded).size).toBe(after);
    const second = calibrateEmbedder(counting, db);
    await second.embed(['d']);
    expect(embedded.length).toBe(after + 1);
    expect(second.similarityOf(0.6)).toBeCloseTo(first.similarityOf(0.6), 5);
  });

  it.skipIf(engine.missing)('is tried again after an embedder failed', async () => {
    const db = database.queries<MemoryTables>();
    const base = createBuiltinEmbedder();
    let isDown = true;
    const failing: Embedder = {
      ...base,
      name: 'failing',
      embed: (texts) => (isDown && texts.length > 1 ? Promise.reject(new Error('down')) : base.embed(texts)),
    };
    const embedder = calibrateEmbedder(failing, db);
    await expect(embedder.embed(['a'])).rejects.toThrow('down');
    isDown = false;
    await expect(embedder.embed(['a'])).resolves.toHaveLength(1);
  });
});
