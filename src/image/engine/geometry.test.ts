import { describe, expect, it } from 'vitest';
import { planSize } from './geometry.ts';
import { toTransform, type VariantSpec } from './specs.ts';

const plan = (spec: VariantSpec, width: number, height: number, maxPixels = 50_000_000) => {
  const size = planSize(toTransform(spec), { width, height }, maxPixels);
  return `${size.width}x${size.height}`;
};

it('of an image that is made smaller for its budget is at most 24 megapixels', () => {
  const sizeOf = (shrinks?: true) =>
    planSize(
      { ...toTransform({ maxBytes: 20_000 }), ...(shrinks && { shrinks }) },
      { width: 10_000, height: 5000 },
      5e7,
    );
  expect([sizeOf(), sizeOf(true)]).toEqual([
    { width: 10_000, height: 5000 },
    { width: 6928, height: 3464 },
  ]);
});

describe('the size of a result', () => {
  const enlarge = true;
  const fill = 'fill';
  const cases: [name: string, spec: VariantSpec, source: [number, number], result: string][] = [
    ['no box', {}, [300, 200], '300x200'],
    ['no box cannot enlarge', { enlarge }, [300, 200], '300x200'],
    ['fit: the width binds', { width: 100, height: 100 }, [300, 200], '100x67'],
    ['fit: the height binds', { width: 100, height: 100 }, [200, 300], '67x100'],
    ['fit: one side free', { width: 100 }, [300, 200], '100x67'],
    ['fit: the other side free', { height: 100 }, [300, 200], '150x100'],
    ['fit: a smaller source stays', { width: 1000, height: 1000 }, [300, 200], '300x200'],
    ['fit: one side larger than the box', { width: 1000, height: 100 }, [300, 200], '150x100'],
    ['fit: enlarged', { width: 600, height: 600, enlarge }, [300, 200], '600x400'],
    ['fit: enlarged by one side', { height: 400, enlarge }, [300, 200], '600x400'],
    ['fit: exactly the box', { width: 300, height: 200 }, [300, 200], '300x200'],
    ['fit: no side vanishes', { width: 10, height: 10 }, [5000, 1], '10x1'],
    ['auto is fit', { width: 100, height: 100, resizingType: 'auto' }, [300, 200], '100x67'],
    ['fill: the box', { width: 100, height: 100, resizingType: fill }, [300, 200], '100x100'],
    ['fill: a wide box', { width: 100, height: 20, resizingType: fill }, [300, 200], '100x20'],
    ['fill: a free side is fit', { width: 100, resizingType: fill }, [300, 200], '100x67'],
    ['fill: no box', { resizingType: fill }, [300, 200], '300x200'],
    [
      'fill: a smaller source is cropped to the proportions',
      { width: 1000, height: 1000, resizingType: fill },
      [300, 200],
      '200x200',
    ],
    ['fill: smaller on one side', { width: 400, height: 100, resizingType: fill }, [300, 200], '300x75'],
    ['fill: a tall box, smaller source', { width: 500, height: 1000, resizingType: fill }, [300, 200], '100x200'],
    ['fill: enlarged', { width: 1000, height: 1000, resizingType: fill, enlarge }, [300, 200], '1000x1000'],
    ['webp is at most 16383 a side', {}, [20_000, 100], '16383x82'],
    ['webp at 16383', {}, [16_383, 100], '16383x100'],
    ['avif is webp', { format: 'avif' }, [100, 20_000], '82x16383'],
    ['png is not limited', { format: 'png' }, [70_000, 100], '70000x100'],
    ['jpeg is at most 65500 a side', { format: 'jpeg' }, [70_000, 100], '65500x94'],
    ['jpeg at 65500', { format: 'jpg' }, [65_500, 100], '65500x100'],
    ['an enlarged webp is limited too', { width: 20_000, enlarge }, [100, 1], '16383x164'],
    ['enlarged to 4 megapixels', { width: 2048, height: 2048, resizingType: fill, enlarge }, [700, 700], '2048x2048'],
    [
      'enlarged no further than its source',
      { width: 9000, height: 500, resizingType: fill, enlarge },
      [3000, 2000],
      '9000x500',
    ],
  ];
  it.each(cases)('%s', (_name, spec, [width, height], result) => {
    const maxPixels = 200_000_000;
    expect(plan(spec, width, height, maxPixels)).toBe(result);
  });

  it.each<[string, VariantSpec, [number, number]]>([
    ['fit', { width: 7000, height: 7000 }, [700, 700]],
    ['fit, by its width', { width: 2049 }, [700, 700]],
    ['fit, by its height', { height: 2049 }, [700, 700]],
    ['auto', { width: 2049, resizingType: 'auto' }, [700, 700]],
    ['fill', { width: 2048, height: 2049, resizingType: fill }, [700, 700]],
    ['fill a box that is free on one side', { height: 2049, resizingType: fill }, [700, 700]],
    ['of a source that has more pixels', { width: 2502 }, [2501, 2000]],
    ['in a webp that is made smaller', { width: 16_383, format: 'avif' }, [100, 200]],
  ])('is refused beyond 4 megapixels and the source: %s', (_name, spec, [width, height]) => {
    expect(() => plan({ ...spec, enlarge }, width, height)).toThrow(
      expect.objectContaining({ name: 'EnlargementFault' }),
    );
    expect(plan(spec, width, height)).toBeDefined();
  });

  it('has at most as many pixels as a source may have', () => {
    expect(plan({ width: 1000, enlarge }, 10, 10, 1_000_000)).toBe('1000x1000');
    expect(() => plan({ width: 1001, enlarge }, 10, 10, 1_000_000)).toThrow(
      expect.objectContaining({ name: 'ImageFault', reason: 'too_large' }),
    );
  });
});
