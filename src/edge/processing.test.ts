import { describe, expect, it } from 'vitest';
import { center, type Edits } from '#image/engine/edits.ts';
import type { VariantSpec } from '#image/engine/specs.ts';
import { faultOf } from '../../test/edge/faults.fixture.ts';
import { parsePresets } from './presets.ts';
import { cacheSecondsOf, type Delivery, dispositionOf } from './processing.ts';
import { parseResizePath } from './resizing.ts';

const parse = (options: string, presets?: ReturnType<typeof parsePresets>) =>
  parseResizePath(`/${options}/plain/s3://objects/a.png@jpg`, presets);
const at = (type: Edits['gravity']['type'], x = 0, y = 0) => ({ type, x, y });

describe("imgproxy's options", () => {
  it.each<[string, VariantSpec, Partial<Edits>]>([
    ['rs:fill:10:20:1:1', { resizingType: 'fill', width: 10, height: 20, enlarge: true }, { extend: center }],
    ['rs:fit:10:20:0:1:no:0:5', { resizingType: 'fit', width: 10, height: 20 }, { extend: at('no', 0, 5) }],
    ['rs:fill-down:1:2', { resizingType: 'fill', width: 1, height: 2 }, { force: false }],
    ['rs:force:1:2', { resizingType: 'fit' }, { force: true }],
    ['rs:force:1:2/rt:fill', { resizingType: 'fill' }, { force: false }],
    ['s:5:6:1', { width: 5, height: 6, enlarge: true }, {}],
    ['size::6', { height: 6 }, {}],
    ['resizing_type:auto', { resizingType: 'auto' }, {}],
    ['dpr:1.5', {}, { dpr: 1.5 }],
    ['ex:1', {}, { extend: center }],
    ['extend:1:soea:4:5', {}, { extend: at('soea', 4, 5) }],
    ['ex:0', {}, { extend: undefined }],
    ['g:sm', {}, { gravity: at('sm') }],
    ['g:fp:0.25:1', {}, { gravity: at('fp', 0.25, 1) }],
    ['gravity:nowe:10:0.1', {}, { gravity: at('nowe', 10, 0.1) }],
    ['c:100:0', {}, { crop: { width: 100, height: 0, gravity: center } }],
    ['crop:0.5:0.25:so', {}, { crop: { width: 0.5, height: 0.25, gravity: at('so') } }],
    ['c:10:10/g:sm', {}, { crop: { width: 10, height: 10, gravity: at('sm') }, gravity: at('sm') }],
    ['c:10:10:ea/g:sm', {}, { crop: { width: 10, height: 10, gravity: at('ea') } }],
    ['c:0:0', {}, {}],
    ['t:10', {}, { trim: { threshold: 10, color: undefined, isEqualX: false, isEqualY: false } }],
    ['trim:0:F0f:1:0', {}, { trim: { threshold: 0, color: '#ff00ff', isEqualX: true, isEqualY: false } }],
    ['pd:1', {}, { padding: { top: 1, right: 1, bottom: 1, left: 1 } }],
    ['pd:1:2', {}, { padding: { top: 1, right: 2, bottom: 1, left: 2 } }],
    ['pd:1:2:3', {}, { padding: { top: 1, right: 2, bottom: 3, left: 2 } }],
    ['padding:1:2:3:4', {}, { padding: { top: 1, right: 2, bottom: 3, left: 4 } }],
    ['pd::5', {}, { padding: { top: 0, right: 5, bottom: 0, left: 5 } }],
    ['ar:0', {}, { autoRotate: false }],
    ['rot:90', {}, { rotate: 90 }],
    ['rotate:450', {}, { rotate: 90 }],
    ['fl:1', {}, { flipX: true, flipY: false }],
    ['flip:0:1', {}, { flipX: false, flipY: true }],
    ['bg:255:0:16', {}, { background: '#ff0010' }],
    ['bg:abc', {}, { background: '#aabbcc' }],
    ['background:', {}, { background: undefined }],
    ['bl:2/sh:1.5', { blur: 2 }, { sharpen: 1.5 }],
    ['wm:0.5', {}, { watermark: { opacity: 0.5, position: 'ce', x: 0, y: 0, scale: 0 } }],
    ['wm:1:soea:-10:0.1:0.2', {}, { watermark: { opacity: 1, position: 'soea', x: -10, y: 0.1, scale: 0.2 } }],
    ['watermark:0.2:re:8:8', {}, { watermark: { opacity: 0.2, position: 're', x: 8, y: 8, scale: 0 } }],
    ['wm:0', {}, { watermark: undefined }],
    ['fq:jpg:33:webp:44', { quality: 33 }, {}],
    ['fq:webp:44', {}, {}],
    ['fq:jpeg:33/q:55', { quality: 55 }, {}],
    ['ext:png', { format: 'jpg' }, {}],
    ['sm:1/scp:t/kcr:0/eth:0/raw:0', {}, {}],
  ])('%s', (written, spec, edits) => {
    const parsed = parse(written);
    expect(parsed.spec).toMatchObject({ ...spec, format: 'jpg' });
    expect(parsed.edits).toMatchObject(edits);
  });

  it.each<[string, Delivery]>([
    ['cb:v1', { buster: 'v1' }],
    ['exp:1700000000', { expiresAtS: 1_700_000_000 }],
    ['expires:', { expiresAtS: undefined }],
    ['fn:my%20photo', { fileName: 'my photo' }],
    [`fn:${Buffer.from('größe').toString('base64url')}:1`, { fileName: 'größe' }],
    ['att:1', { isAttachment: true }],
    ['return_attachment:false', { isAttachment: false }],
  ])('%s', (written, delivery) => {
    expect(parse(written).delivery).toEqual(delivery);
  });

  it.each([
    ['rs:nope', 'options.rs'],
    ['dpr:101', 'options.dpr'],
    ['ex:1:sm', 'options.ex'],
    ['g:fp:2:0', 'options.g'],
    ['g:objw:face:2', 'options.g'],
    ['c:-1:1', 'options.c'],
    ['t:', 'options.t'],
    ['t:10:nocolor', 'options.t'],
    ['pd:1:2:3:4:5', 'options.pd'],
    ['ar:2', 'options.ar'],
    ['rot:45', 'options.rot'],
    ['bg:1:2', 'options.bg'],
    ['bg:256:0:0', 'options.bg'],
    ['sh:11', 'options.sh'],
    ['wm:2', 'options.wm'],
    ['wm:1:ch', 'options.wm'],
    ['fq:jpg', 'options.fq'],
    ['fq:jpg:101', 'options.fq'],
    ['exp:soon', 'options.exp'],
    ['fn:a%2Fb', 'options.fn'],
    ['fn:%zz', 'options.fn'],
    ['pr:unknown', 'options.pr'],
    ['sm:0', 'options.sm'],
    ['raw:1', 'options.raw'],
    ['msr:10', 'options.msr'],
    ['skp:png', 'options.skp'],
    ['constructor:1', 'options.constructor'],
  ])('%s is refused by name', (written, path) => {
    expect(faultOf(() => parse(written))).toBe(path);
  });
});

describe('presets', () => {
  const presets = parsePresets('small=w:10/h:20, sharp=pr:small/sh:1, loop=pr:loop/w:5');

  it('are replaced by their options, in their place', () => {
    expect(parse('pr:small', presets).spec).toMatchObject({ width: 10, height: 20 });
    expect(parse('pr:sharp/w:30', presets)).toMatchObject({ spec: { width: 30, height: 20 }, edits: { sharpen: 1 } });
    expect(parse('w:30/preset:small:sharp', presets).spec).toMatchObject({ width: 10 });
  });

  it('that refer to themselves are used once', () => {
    expect(parse('pr:loop', presets).spec).toMatchObject({ width: 5 });
  });

  it.each([
    ['w:10', 'must be name=options'],
    ['a=nope:1', 'wrong option "nope:1"'],
    ['a=w:x', 'wrong option "w:x"'],
    ['a=pr:b', 'refers to "b"'],
    ['default=w:10', 'must not have a preset "default"'],
  ])('%s is a fault of the setting', (text, message) => {
    expect(() => parsePresets(text)).toThrow(message);
  });
});

describe('delivery', () => {
  it.each<[Delivery, string | undefined]>([
    [{}, undefined],
    [{ fileName: 'photo' }, 'inline; filename="photo.jpg"; filename*=UTF-8\'\'photo.jpg'],
    [{ fileName: 'photo.jpg', isAttachment: true }, 'attachment; filename="photo.jpg"; filename*=UTF-8\'\'photo.jpg'],
    [{ isAttachment: true }, 'attachment; filename="source.jpg"; filename*=UTF-8\'\'source.jpg'],
  ])('%o has the header %s', (delivery, header) => {
    expect(dispositionOf(delivery, 'u/1/source.png', 'jpg')).toBe(header);
  });

  it('lasts for an hour, or until it expires', () => {
    expect(cacheSecondsOf({}, 0)).toBe(3600);
    expect(cacheSecondsOf({ expiresAtS: 100 }, 0)).toBe(100);
    expect(cacheSecondsOf({ expiresAtS: 100 }, 100_000)).toBe(0);
    expect(cacheSecondsOf({ expiresAtS: 100 }, 101_000)).toBeUndefined();
    expect(cacheSecondsOf({ expiresAtS: 10_000 }, 0)).toBe(3600);
  });
});
