/** Decides whether browsers play a video as it is (docs/specification/media.md#renditions). */
import { open } from 'node:fs/promises';
import { fileTypeFromBuffer } from 'file-type';
import type { VideoFacts } from './probing.ts';

/** As many as the library needs. */
const beginningBytes = 4100;
/** The types by which browsers know the containers that they play. */
const playableMimes: readonly string[] = ['video/mp4', 'video/webm'];
/** MP4 under the name that Apple gave it. */
const aliases: Readonly<Record<string, string>> = { 'video/x-m4v': 'video/mp4' };
const playableSound: readonly string[] = ['aac', 'mp3', 'opus', 'vorbis', 'flac'];
/** Browsers decode no other form of H.264. */
const playableH264: readonly string[] = ['yuv420p', 'yuvj420p'];

/** `mime`: the type that the file is served with. */
export async function isPlayable(file: string, facts: VideoFacts, mime: string): Promise<boolean> {
  return playableMimes.includes(mime) && hasPlayableStreams(facts) && playableMimes.includes(await containerOf(file));
}

function hasPlayableStreams({ codec, pixelFormat, soundCodec }: VideoFacts): boolean {
  if (soundCodec !== undefined && !playableSound.includes(soundCodec)) return false;
  return codec === 'h264' ? playableH264.includes(pixelFormat) : codec === 'vp9' || codec === 'av1';
}

/** Empty if it is unknown. */
async function containerOf(file: string): Promise<string> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(beginningBytes), 0, beginningBytes, 0);
    const mime = (await fileTypeFromBuffer(buffer.subarray(0, bytesRead)))?.mime ?? '';
    return aliases[mime] ?? mime;
  } catch {
    // The parsers throw if a header claims more bytes than there are.
    return '';
  } finally {
    await handle.close();
  }
}
