/** Uploads and processes an image, then a video. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import mime from 'mime';
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

/** An evening sky over three ridges. */
export const readLandscape = (): Promise<Uint8Array> => readFile(new URL('./landscape.jpg', import.meta.url));
