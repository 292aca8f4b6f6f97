/** Uploads and processes an image, then a video. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import mime from 'mime';
import type { Atelier } from '#client/atelier.ts';
import { putBytes } from '#client/putting.ts';
import { StartFault } from '#platform/lifecycle.ts';
import { outgoingFetch } from '#platform/version.ts';

// What every step uses.

export function printStep(step: string, what: string, address?: string): void {
  console.log(`${step.padEnd(10)} ${what}${address === undefined ? '' : `\n           ${address}`}`);
}

/** `fetch` that throws StartFault with one readable line if nothing responds. */
export const reach: typeof fetch = (url, init) =>
  outgoingFetch(url, init).catch((cause: Error) => {
    throw new StartFault(
      `${new URL(String(url)).origin} is not responding. Is \`npm start\` running, with the same ATELIER_PORT_BASE? (${cause.message})`,
    );
  });

/** Opens a URL that a service returned, as a browser would, and prints the result. */
export async function open(step: string, url: string | null | undefined): Promise<void> {
  if (!url) throw new StartFault(`${step}: the service returned no URL.`);
  const response = await reach(url);
  const bytes = await response.arrayBuffer();
  if (!response.ok) throw new StartFault(`${step} returned ${response.status}.`);
  printStep(step, `${response.headers.get('content-type')}, ${bytes.byteLength} bytes`, url);
}

/** Calls `ask` twice a second until its result has ended. */
export async function waitUntil<Result>(
  what: string,
  ask: () => Promise<Result>,
  hasEnded: (result: Result) => boolean,
): Promise<Result> {
  for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += 500) {
    const result = await ask();
    if (hasEnded(result)) return result;
    await sleep(500);
  }
  throw new StartFault(`${what} is not finished after ${patienceMs / 1000} s.`);
}

const patienceMs = 120_000;

export interface MediaFile {
  readonly name: string;
  readonly mime: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

type Media = Atelier<{ readonly media: string }>['media'];

const scope = { scopeKind: 'thread', scopeId: 'demo' };

export async function choosePhoto(path: string | undefined): Promise<MediaFile> {
  if (path !== undefined) return readMedia(path, 'image/jpeg');
  return { name: 'a drawn landscape', mime: 'image/jpeg', bytes: await readLandscape() };
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
export async function showImage(media: Media, photo: MediaFile): Promise<string> {
  const assetId = await upload(media, photo, 'image');
  const asset = await media.registerAsset({ assetId, ...scope, kind: 'image', mime: photo.mime });
  printStep('Register', `${asset.mime}, ${asset.width} × ${asset.height}, blurhash ${asset.blurhash}`);

  const { [assetId]: signed } = await media.signImages({ refs: [assetId] });
  if (!signed?.ready) throw new StartFault(`The asset ${assetId} cannot be signed.`);
  await open('Original', signed.url);
  await open('Thumbnail', signed.thumbUrl);
  await open('Preview', signed.previewUrl);

  const copy = await media.copyAsset({ fromAssetId: assetId, toScopeKind: 'feed', toScopeId: 'demo' });
  printStep('Copy', `asset ${copy.assetId} in the public feed`);
  await open('Watermark', (await media.watermarkImage({ ref: assetId })).url);
  return assetId;
}

/** Uploads a video, hands it to the background job that takes a poster frame, then watermarks it for a download. */
export async function showVideo(media: Media, url: string, clip: MediaFile): Promise<void> {
  const assetId = await upload(media, clip, 'video');
  const { taskId } = await media.beginVideoTask({ assetId, ...scope, mime: clip.mime });
  const address = `${url}/v1/media-tasks/${taskId}`;
  printStep('Video', `task ${taskId}`, address);
  const task = await waitUntil(
    address,
    () => media.readMediaTask(taskId),
    ({ status }) => status === 'completed' || status === 'failed',
  );
  if (task.status === 'failed') throw new StartFault(`${address} failed: ${JSON.stringify(task.metadata)}`);
  const { [assetId]: signed } = await media.signVideos({ refs: [assetId] });
  if (!signed?.ready) throw new StartFault(`The asset ${assetId} cannot be signed.`);
  await open('Video', signed.url);
  await open('Poster', signed.thumbUrl);
  await open('Watermark', (await media.watermarkVideo({ ref: assetId })).url);
}

async function upload(media: Media, { name, mime, bytes }: MediaFile, kind: string): Promise<string> {
  const reservation = await media.reserveUpload({ ...scope, kind, mime });
  await putBytes(reservation, new Blob([bytes]), { fetch: reach });
  printStep('Upload', `${name}, ${bytes.length} bytes, asset ${reservation.assetId}`);
  return reservation.assetId;
}

/** Renders two seconds of moving colors with a tone, as MP4. Returns `undefined` if ffmpeg is not installed. */
export async function renderClip(): Promise<Uint8Array<ArrayBuffer> | undefined> {
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

/** An evening sky over three ridges. */
export const readLandscape = (): Promise<Uint8Array<ArrayBuffer>> =>
  readFile(new URL('./landscape.jpg', import.meta.url));
