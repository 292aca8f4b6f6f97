import { beforeAll, describe, expect, it } from 'vitest';
import { fadingScene, photo, pipe } from '../../../test/image/images.fixture.ts';
import { everyNth } from '../../../test/lane.fixture.ts';
import { toTransform, type VariantSpec } from './specs.ts';
import { createEngine } from './working.ts';

const engine = createEngine({
  maxSourcePixels: 50_000_000,
  processTimeoutMs: 30_000,
  concurrency: 2,
  permitWaitMs: 30_000,
});

let jpeg: Buffer;
let png: Buffer;
beforeAll(async () => {
  jpeg = await pipe(photo(600, 450)).jpeg({ quality: 95 }).toBuffer();
  png = await pipe(fadingScene()).png().toBuffer();
});

async function render(bytes: Uint8Array, spec: VariantSpec): Promise<Uint8Array> {
  const outputs: Uint8Array[] = [];
  await engine.transform(bytes, [{ transform: toTransform(spec), deliver: (output) => outputs.push(output) }]);
  return outputs[0] ?? new Uint8Array();
}

/** The same search, by decoding the source again for each quality. */
async function searchNaively(
  bytes: Uint8Array,
  { maxBytes, ...spec }: VariantSpec & { maxBytes: number; quality: number },
) {
  const attempt = (quality: number) => render(bytes, { ...spec, quality });
  let best = await attempt(spec.quality);
  if (best.length <= maxBytes) return best;
  best = await attempt(10);
  for (let low = 10, high = spec.quality - 1; low <= high; ) {
    const middle = (low + high) >> 1;
    const output = await attempt(middle);
    if (output.length <= maxBytes) [best, low] = [output, middle + 1];
    else high = middle - 1;
  }
  return best;
}

describe.each(['webp', 'jpeg'] as const)('a budget in bytes: %s', (format) => {
  const spec = { width: 300, format, quality: 85 };

  it.each(everyNth([1, 2000, 4000, 8000, 12_000, 20_000, 1_000_000], 3))(
    'of %i: equals the result of a naive search',
    async (maxBytes) => {
      const output = await render(jpeg, { ...spec, maxBytes });
      expect(output).toEqual(await searchNaively(jpeg, { ...spec, maxBytes }));
    },
  );

  it('is met exactly, and missed by one byte', async () => {
    const requested = await render(jpeg, spec);
    expect(await render(jpeg, { ...spec, maxBytes: requested.length })).toEqual(requested);
    expect((await render(jpeg, { ...spec, maxBytes: requested.length - 1 })).length).toBeLessThan(requested.length);
  });

  it('that quality 10 misses: the bytes of quality 10', async () => {
    const lowest = await render(jpeg, { ...spec, quality: 10 });
    for (const maxBytes of [1, lowest.length - 1, lowest.length])
      expect(await render(jpeg, { ...spec, maxBytes })).toEqual(lowest);
  });

  it.each([1, 9, 10])('with quality %i uses only that quality', async (quality) => {
    const alone = await render(jpeg, { ...spec, quality });
    for (const maxBytes of [1, 1_000_000]) expect(await render(jpeg, { ...spec, quality, maxBytes })).toEqual(alone);
  });

  it('with quality 11: two candidates', async () => {
    const [ten, eleven] = [await render(jpeg, { ...spec, quality: 10 }), await render(jpeg, { ...spec, quality: 11 })];
    expect(eleven.length).toBeGreaterThan(ten.length);
    expect(await render(jpeg, { ...spec, quality: 11, maxBytes: eleven.length })).toEqual(eleven);
    expect(await render(jpeg, { ...spec, quality: 11, maxBytes: eleven.length - 1 })).toEqual(ten);
  });

  it('preserves everything else: transparency, blur, cropping', async () => {
    const varied = { ...spec, height: 100, resizingType: 'fill', blur: 2 } as const;
    expect(await render(png, { ...varied, maxBytes: 1_000_000 })).toEqual(await render(png, varied));
  });
});

it('jpeg: the highest quality that fits', async () => {
  const maxBytes = 8000;
  const output = await render(jpeg, { width: 300, format: 'jpeg', quality: 85, maxBytes });
  const sizes: number[] = [];
  for (let quality = 85; quality >= 10; quality--) {
    sizes.push((await render(jpeg, { width: 300, format: 'jpeg', quality })).length);
  }
  expect(output.length).toBe(sizes.find((size) => size <= maxBytes));
});

it('ignores a quality and a budget for PNG, which has no quality', async () => {
  const plain = await render(png, { width: 100, format: 'png' });
  for (const spec of [{ quality: 5 }, { quality: 100 }, { maxBytes: 1 }, { maxBytes: 1, quality: 5 }])
    expect(await render(png, { width: 100, format: 'png', ...spec })).toEqual(plain);
});
