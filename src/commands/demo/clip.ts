import { spawn } from 'node:child_process';
import { once } from 'node:events';

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
