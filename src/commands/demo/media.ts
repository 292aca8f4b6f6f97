/** Uploads and processes an image, then a video. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import mime from 'mime';
import sharp from 'sharp';
import { StartFault } from '#platform/lifecycle.ts';
import { outgoingFetch } from '#platform/version.ts';

// HTTP calls of the demo, with their output.

export type JsonObject = Readonly<Record<string, unknown>>;
type Credential = { readonly token: string } | { readonly internalKey: string };

export function printStep(step: string, what: string, address?: string): void {
  console.log(`${step.padEnd(10)} ${what}${address === undefined ? '' : `\n           ${address}`}`);
}

/** On any failure, throws StartFault with one readable line. */
export async function post(url: string, credential: Credential, body: unknown): Promise<JsonObject> {
  return call('POST', url, credential, body);
}

export async function call(method: string, url: string, credential: Credential, body?: unknown): Promise<JsonObject> {
  const authorization: Record<string, string> =
    'token' in credential
      ? { authorization: `Bearer ${credential.token}` }
      : { 'x-internal-key': credential.internalKey };
  const response = await outgoingFetch(url, {
    method,
    headers: { ...authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch((cause: Error) => {
    throw new StartFault(
      `${url} is not responding. Is \`npm start\` running, with the same ATELIER_PORT_BASE? (${cause.message})`,
    );
  });
  const text = await response.text();
  if (!response.ok) throw new StartFault(`${url} returned ${response.status}: ${text}`);
  return JSON.parse(text);
}

/** Opens a URL that a service returned, as a browser would, and prints the result. */
export async function open(step: string, url: unknown): Promise<void> {
  const response = await outgoingFetch(String(url));
  const bytes = await response.arrayBuffer();
  if (!response.ok) throw new StartFault(`${step} returned ${response.status}.`);
  printStep(step, `${response.headers.get('content-type')}, ${bytes.byteLength} bytes`, String(url));
}

interface MediaFile {
  readonly name: string;
  readonly mime: string;
  readonly bytes: Uint8Array;
}

interface DemoUser {
  readonly media: string;
  readonly token: string;
}

const scope = { scopeKind: 'thread', scopeId: 'demo' };

export async function choosePhoto(path: string | undefined): Promise<MediaFile> {
  if (path !== undefined) return readMedia(path, 'image/jpeg');
  return { name: 'a rendered landscape', mime: 'image/jpeg', bytes: await renderLandscape() };
}

/** Returns `undefined` if no file is given and ffmpeg is not installed to render one. */
export async function chooseClip(path: string | undefined): Promise<MediaFile | undefined> {
  if (path !== undefined) return readMedia(path, 'video/mp4');
  const bytes = await renderClip();
  return bytes && { name: 'a rendered clip', mime: 'video/mp4', bytes };
}

async function readMedia(path: string, otherwise: string): Promise<MediaFile> {
  const bytes = await readFile(path).catch((cause: Error) => {
    throw new StartFault(`Cannot read ${path}: ${cause.message}`);
  });
  return { name: basename(path), mime: mime.getType(extname(path)) ?? otherwise, bytes };
}

/** Uploads, registers and signs an image, copies it to the public feed and watermarks it for a download. Returns the asset. */
export async function showImage({ media, token }: DemoUser, photo: MediaFile): Promise<string> {
  const postMedia = (path: string, body: unknown) => post(`${media}${path}`, { token }, body);
  const assetId = await upload({ media, token }, photo, 'image');
  const row = await postMedia('/v1/assets', { assetId, ...scope, kind: 'image', mime: photo.mime });
  printStep('Register', `${row.mime}, ${row.width} × ${row.height}, blurhash ${row.blurhash}`);

  const signed = (await postMedia('/v1/sign/image', { refs: [assetId] }))[assetId] as JsonObject;
  await open('Original', signed.url);
  await open('Thumbnail', signed.thumbUrl);
  await open('Preview', signed.previewUrl);

  const copy = await postMedia('/v1/copy', { fromAssetId: assetId, toScopeKind: 'feed', toScopeId: 'demo' });
  printStep('Copy', `asset ${copy.assetId} in the public feed`);
  await open('Watermark', (await postMedia('/v1/watermark', { ref: assetId })).url);
  return assetId;
}

/** Uploads a video, hands it to the background job that takes a poster frame, then watermarks it for a download. */
export async function showVideo({ media, token }: DemoUser, clip: MediaFile): Promise<void> {
  const postMedia = (path: string, body: unknown) => post(`${media}${path}`, { token }, body);
  const assetId = await upload({ media, token }, clip, 'video');
  const { taskId } = await postMedia('/v1/media-tasks/video', { assetId, ...scope, mime: clip.mime });
  printStep('Video', `task ${taskId}`, `${media}/v1/media-tasks/${taskId}`);
  await ended(`${media}/v1/media-tasks/${taskId}`, token);
  const signed = (await postMedia('/v1/sign/video', { refs: [assetId] }))[assetId] as JsonObject;
  await open('Video', signed.url);
  await open('Poster', signed.thumbUrl);
  await open('Watermark', (await postMedia('/v1/watermark-video', { ref: assetId })).url);
}

const patienceMs = 60_000;

async function ended(url: string, token: string): Promise<void> {
  for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += 500) {
    const { status, metadata } = await call('GET', url, { token });
    if (status === 'completed') return;
    if (status === 'failed') throw new StartFault(`${url} failed: ${JSON.stringify(metadata)}`);
    await sleep(500);
  }
  throw new StartFault(`${url} is not finished after ${patienceMs / 1000} s.`);
}

async function upload({ media, token }: DemoUser, file: MediaFile, kind: string): Promise<string> {
  const reservation = await post(`${media}/v1/uploads`, { token }, { ...scope, kind, mime: file.mime });
  const put = await outgoingFetch(String(reservation.uploadUrl), {
    method: 'PUT',
    headers: reservation.headers as Record<string, string>,
    body: new Uint8Array(file.bytes),
  });
  if (!put.ok) throw new StartFault(`The upload returned ${put.status}: ${await put.text()}`);
  printStep('Upload', `${file.name}, ${file.bytes.length} bytes, asset ${reservation.assetId}`);
  return String(reservation.assetId);
}

/** Renders two seconds of moving colors with a tone, as MP4. Returns `undefined` if ffmpeg is not installed. */
export async function renderClip(): Promise<Uint8Array | undefined> {
  const image = ['-f', 'lavfi', '-i', 'gradients=size=640x360:rate=24:duration=2:speed=0.05'];
  const sound = ['-f', 'lavfi', '-i', 'sine=frequency=220:duration=2'];
  const output = ['-pix_fmt', 'yuv420p', '-movflags', 'frag_keyframe+empty_moov', '-f', 'mp4', 'pipe:1'];
  const child = spawn('ffmpeg', ['-v', 'error', ...image, ...sound, ...output], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  const [code] = await once(child, 'close').catch(() => [undefined]);
  return code === 0 ? Buffer.concat(chunks) : undefined;
}

// The demo's default image: an evening sky over three ridges, generated by arithmetic alone.

const width = 1920;
const height = 1280;

type Color = readonly [number, number, number];

const sky: readonly Color[] = [
  [38, 52, 110],
  [196, 110, 128],
  [255, 196, 120],
];
const ridges: readonly {
  readonly color: Color;
  readonly top: number;
  readonly swing: number;
  readonly seed: number;
}[] = [
  { color: [104, 84, 124], top: 0.58, swing: 0.07, seed: 1.3 },
  { color: [66, 58, 98], top: 0.68, swing: 0.09, seed: 4.1 },
  { color: [28, 32, 58], top: 0.8, swing: 0.08, seed: 7.7 },
];

/** Returns a JPEG of 1920 × 1280. */
export async function renderLandscape(): Promise<Uint8Array> {
  const pixels = Buffer.alloc(width * height * 3);
  for (let x = 0; x < width; x++) {
    const tops = ridges.map((ridge) => height * (ridge.top - ridge.swing * outline(x / width, ridge.seed)));
    for (let y = 0; y < height; y++) {
      const front = tops.findLastIndex((top) => y >= top);
      const sunDistance = Math.hypot(x - width * 0.68, y - height * 0.5) / height;
      const color = front === -1 ? glow(skyAt(y / height), sunDistance) : (ridges[front]?.color ?? sky[0]);
      pixels.set(color ?? [0, 0, 0], (y * width + x) * 3);
    }
  }
  return sharp(pixels, { raw: { width, height, channels: 3 } })
    .jpeg({ quality: 88 })
    .toBuffer();
}

/** Returns the height of a mountain line, between about -1 and 1: four sines of decreasing weight. */
function outline(x: number, seed: number): number {
  return [1, 2.3, 5.1, 11.7].reduce(
    (sum, pitch, octave) => sum + Math.sin(x * pitch * 6 + seed * (octave + 1)) / 2 ** (octave + 0.5),
    0,
  );
}

function skyAt(y: number): Color {
  const place = Math.min(y / 0.7, 0.999) * (sky.length - 1);
  const from = sky[Math.floor(place)] ?? [0, 0, 0];
  const to = sky[Math.floor(place) + 1] ?? from;
  return mix(from, to, place % 1);
}

function glow(color: Color, sunDistance: number): Color {
  return mix(color, [255, 244, 214], sunDistance < 0.07 ? 0.95 : 0.5 * Math.exp(-5 * sunDistance));
}

function mix(from: Color, to: Color, share: number): Color {
  const part = (channel: 0 | 1 | 2) => Math.round(from[channel] + (to[channel] - from[channel]) * share);
  return [part(0), part(1), part(2)];
}
