/** Renders a variant with edits: rotated, trimmed, cropped, resized, filtered, on its canvas, with the watermark. */
import type { Metadata, Sharp } from 'sharp';
import { type Brand, layOut } from './brand.ts';
import { type Brandmark, brandmarkOf, fade } from './brandmark.ts';
import type { Deadline } from './deadline.ts';
import { type Opening, openImage, openRaw, toRaw } from './decoding.ts';
import { center, type Edits, type Gravity, type Trim, type Watermark } from './edits.ts';
import type { Raster, Transform } from './engine.ts';
import { type Area, placeInside, type Size } from './geometry.ts';
import { type Layout, planLayout } from './layout.ts';
import { free } from './sources.ts';

/** An image in the middle of its edits. `open` can be called repeatedly. */
interface Stage extends Size {
  readonly open: () => Sharp;
  /** Pixels that nothing reads after the next stage. */
  readonly raw?: Raster;
}

/** Returns the finished pixels on their canvas. Throws as `planLayout`. */
export async function renderEdited(
  opening: Opening,
  header: Metadata,
  transform: Transform,
  edits: Edits,
): Promise<Raster> {
  const { deadline, limits } = opening;
  const isAlpha = transform.format !== 'jpeg' && edits.background === undefined;
  const background = isAlpha ? transparent : (edits.background ?? '#ffffff');
  const upright = await trimmed(await turned(opening, header, edits), edits.trim, deadline);
  const layout = planLayout(transform, edits, upright, limits.maxSourcePixels);
  const pixels = await resized(upright, transform, edits, layout, deadline);
  const drawn = hasCanvas(pixels, layout, isAlpha)
    ? pixels
    : await next(pixels, drawCanvas(pixels.open(), { layout, isAlpha, background }), deadline);
  const { raw } = edits.watermark === undefined ? drawn : await stamped(drawn, edits, layout, opening);
  if (raw === undefined) throw new Error('a canvas without pixels');
  return raw;
}

const transparent = { r: 0, g: 0, b: 0, alpha: 0 };

/** Runs a pipeline over a stage and frees the pixels of that stage. */
async function next(stage: Stage, pipeline: Sharp, deadline: Deadline): Promise<Stage> {
  const raw = await toRaw(pipeline);
  if (stage.raw !== undefined) free(stage.raw.data);
  return stageOf(raw, deadline);
}

function stageOf(raw: Raster, deadline: Deadline): Stage {
  return { width: raw.width, height: raw.height, open: () => openRaw(raw, deadline), raw };
}

async function turned(opening: Opening, header: Metadata, edits: Edits): Promise<Stage> {
  const { autoRotate, rotate, flipX, flipY } = edits;
  const open = () => openImage(opening, header, autoRotate);
  const { width = 0, height = 0 } = autoRotate ? header.autoOrient : header;
  const stage = { width, height, open };
  if (rotate === 0 && !flipX && !flipY) return stage;
  const upright = rotate === 0 ? stage : await next(stage, stage.open().rotate(rotate), opening.deadline);
  if (!flipX && !flipY) return upright;
  return next(upright, upright.open().flop(flipX).flip(flipY), opening.deadline);
}

async function trimmed(stage: Stage, trim: Trim | undefined, deadline: Deadline): Promise<Stage> {
  if (trim === undefined) return stage;
  // Trimming reads the pixels twice.
  const whole = stage.raw === undefined ? await next(stage, stage.open(), deadline) : stage;
  const { threshold, color, isEqualX, isEqualY } = trim;
  const options = { threshold, ...(color !== undefined && { background: color }) };
  const { info } = await whole.open().trim(options).raw().toBuffer({ resolveWithObject: true });
  const margins = {
    left: -(info.trimOffsetLeft ?? 0),
    top: -(info.trimOffsetTop ?? 0),
  };
  const right = whole.width - info.width - margins.left;
  const bottom = whole.height - info.height - margins.top;
  const x = isEqualX ? Math.min(margins.left, right) : undefined;
  const y = isEqualY ? Math.min(margins.top, bottom) : undefined;
  const area = {
    left: x ?? margins.left,
    top: y ?? margins.top,
    width: x === undefined ? info.width : whole.width - 2 * x,
    height: y === undefined ? info.height : whole.height - 2 * y,
  };
  return next(whole, whole.open().extract(area), deadline);
}

async function resized(
  stage: Stage,
  transform: Transform,
  edits: Edits,
  { crop, scaled, cut, dpr }: Layout,
  deadline: Deadline,
): Promise<Stage> {
  const cropped = await areaOf(stage, crop, edits.crop?.gravity ?? center, deadline);
  const source = cropped === undefined ? stage : await next(stage, stage.open().extract(cropped), deadline);
  const isSmart = edits.gravity.type === 'sm';
  const isOneCut = cut.width === scaled.width || cut.height === scaled.height;
  const options = { kernel: transform.resampling, fastShrinkOnLoad: transform.resampling !== 'nearest' };
  if (isSmart && isOneCut && (cut.width !== scaled.width || cut.height !== scaled.height)) {
    const cover = { ...cut, ...options, fit: 'cover', position: 'attention' } as const;
    return next(source, filtered(source.open().resize(cover), transform, edits), deadline);
  }
  const pipeline = source.open();
  if (scaled.width !== source.width || scaled.height !== source.height)
    pipeline.resize({ ...scaled, ...options, fit: 'fill' });
  const area = await areaOf({ ...scaled, open: source.open }, cut, edits.gravity, deadline, dpr);
  if (area !== undefined) pipeline.extract(area);
  return next(source, filtered(pipeline, transform, edits), deadline);
}

function filtered(pipeline: Sharp, { blur }: Transform, { sharpen }: Edits): Sharp {
  if (blur > 0) pipeline.blur(blur);
  return sharpen > 0 ? pipeline.sharpen({ sigma: sharpen }) : pipeline;
}

/** `undefined`: the whole image. */
async function areaOf(
  outer: Pick<Stage, 'open'> & Size,
  inner: Size,
  gravity: Gravity,
  deadline: Deadline,
  dpr = 1,
): Promise<Area | undefined> {
  if (inner.width === outer.width && inner.height === outer.height) return undefined;
  const placed = gravity.type === 'sm' ? await findFocus(outer, deadline) : gravity;
  return { ...placeInside(outer, inner, placed, { dpr }), width: inner.width, height: inner.height };
}

/** The side of the image in which the most interesting point is searched. */
const searchedSide = 256;

async function findFocus({ open, width, height }: Pick<Stage, 'open'> & Size, deadline: Deadline): Promise<Gravity> {
  const scale = Math.min(1, searchedSide / Math.max(width, height));
  const small = { width: Math.max(2, Math.round(width * scale)), height: Math.max(2, Math.round(height * scale)) };
  // A crop by one pixel: only the point matters.
  const box = { width: small.width - 1, height: small.height };
  const raw = await toRaw(open().resize({ ...small, fit: 'fill' }));
  const { info } = await openRaw(raw, deadline)
    .resize({ ...box, fit: 'cover', position: 'attention' })
    .raw()
    .toBuffer({ resolveWithObject: true });
  const { attentionX = small.width / 2, attentionY = small.height / 2 } = info;
  return { type: 'fp', x: attentionX / small.width, y: attentionY / small.height };
}

/** Nothing is transparent that must not be, and there are no borders. */
function hasCanvas({ raw }: Stage, { canvas, cut }: Layout, isAlpha: boolean): boolean {
  return (isAlpha || raw?.channels === 3) && canvas.width === cut.width && canvas.height === cut.height;
}

function drawCanvas(
  image: Sharp,
  {
    layout: { canvas, offset, cut },
    isAlpha,
    background,
  }: { readonly layout: Layout; readonly isAlpha: boolean; readonly background: string | typeof transparent },
): Sharp {
  if (!isAlpha) image.flatten({ background });
  if (canvas.width === cut.width && canvas.height === cut.height) return image;
  return (isAlpha ? image.ensureAlpha() : image).extend({
    top: offset.top,
    left: offset.left,
    bottom: canvas.height - cut.height - offset.top,
    right: canvas.width - cut.width - offset.left,
    background,
  });
}

async function stamped(stage: Stage, { watermark }: Edits, { dpr }: Layout, opening: Opening): Promise<Stage> {
  if (watermark === undefined) return stage;
  return next(stage, await stampWatermark(stage.open(), stage, watermark, dpr, opening), opening.deadline);
}

// Puts the brand's watermark on a variant, where the request wants it.

async function stampWatermark(
  image: Sharp,
  size: Size,
  watermark: Watermark,
  dpr: number,
  { brand, deadline }: { readonly brand: Brand; readonly deadline: Deadline },
): Promise<Sharp> {
  const brandmark = await brandmarkOf(brand);
  const wanted = sizeOf(watermark, size, brandmark, brand);
  const mark = await toRaw(openRaw(fade(brandmark, watermark.opacity), deadline).resize({ ...wanted, fit: 'fill' }));
  if (watermark.position === 're') return repeat(image, size, mark, watermark, deadline);
  const at = placeInside(
    size,
    mark,
    { type: watermark.position, x: watermark.x, y: watermark.y },
    { dpr, overflows: true },
  );
  const seen = visiblePart({ ...at, width: mark.width, height: mark.height }, size);
  const part = await toRaw(
    openRaw(mark, deadline).extract({ ...seen, left: seen.left - at.left, top: seen.top - at.top }),
  );
  return image.composite([{ ...overlayOf(part), left: seen.left, top: seen.top }]);
}

/** In the proportions of the mark: inside of a share of the image, or as on downloads. */
function sizeOf({ scale }: Watermark, image: Size, brandmark: Brandmark, brand: Brand): Size {
  const { width, height } = brandmark;
  if (scale === 0) {
    const { margin: _margin, ...size } = layOut(image, brandmark, brand);
    return size;
  }
  const factor = Math.min((image.width * scale) / width, (image.height * scale) / height);
  return { width: Math.max(1, Math.round(width * factor)), height: Math.max(1, Math.round(height * factor)) };
}

/** `x` and `y` are the space between two marks. */
async function repeat(image: Sharp, size: Size, mark: Raster, { x, y }: Watermark, deadline: Deadline): Promise<Sharp> {
  const right = Math.round(Math.abs(x) >= 1 ? Math.abs(x) : Math.abs(x) * size.width);
  const bottom = Math.round(Math.abs(y) >= 1 ? Math.abs(y) : Math.abs(y) * size.height);
  const [width, height] = [Math.min(mark.width + right, size.width), Math.min(mark.height + bottom, size.height)];
  const spaced = openRaw(mark, deadline).extend({
    right: Math.max(0, width - mark.width),
    bottom: Math.max(0, height - mark.height),
    background: { r: 0, g: 0, b: 0, alpha: 0 },
  });
  const whole = await toRaw(spaced);
  const tile = await toRaw(openRaw(whole, deadline).extract({ left: 0, top: 0, width, height }));
  return image.composite([{ ...overlayOf(tile), tile: true }]);
}

function visiblePart({ left, top, width, height }: Area, image: Size): Area {
  const [from, above] = [Math.max(0, left), Math.max(0, top)];
  return {
    left: from,
    top: above,
    width: Math.min(left + width, image.width) - from,
    height: Math.min(top + height, image.height) - above,
  };
}

function overlayOf({ data, width, height, channels }: Raster) {
  return { input: Buffer.from(data), raw: { width, height, channels } };
}
