/**
 * `npm run demo [-- photo.jpg [clip.mp4]]`: exercises a running system through its public HTTP interfaces, step by step
 * (docs/specification/system.md#commands). It starts nothing.
 */
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { addressesOf, readConfig } from '#app/config.ts';
import { showChat } from './demo/agent.ts';
import { printStep } from './demo/calls.ts';
import { showGeneration } from './demo/generation.ts';
import { chooseClip, choosePhoto, showImage, showVideo } from './demo/media.ts';
import { rememberAndRecall } from './demo/memory.ts';
import { notifyUser } from './demo/notification.ts';
import { signInThroughBrowser } from './signin.ts';
import { readArguments } from './usage.ts';

const email = 'demo@example.com';

export async function demo(args: readonly string[]): Promise<number> {
  const { words } = readArguments('demo', args, { most: 2 });
  const config = readConfig(process.env, []);
  const { agent, media, memory, notify } = addressesOf(config);
  const [photo, clip] = [await choosePhoto(words[0]), await chooseClip(words[1])];

  const { accessToken: token, target } = await signInThroughBrowser(config, email);
  printStep('Sign in', `test account ${email}, in the same way as a browser`, target);
  const userId = String(decodeJwt(token).sub);

  const assetId = await showImage({ media, token }, photo);
  if (clip === undefined) printStep('Video', 'skipped: ffmpeg is not installed; install it, or pass a clip');
  else await showVideo({ media, token }, clip);
  await rememberAndRecall(memory, token, userId);
  await showChat({ agent, token });
  await showGeneration({ agent, token }, assetId);

  const [internalKey] = config.internal.keys;
  const isOutbox = config.notify.resendApiKey === undefined && config.notify.smtpUrl === 'outbox';
  const outbox = isOutbox ? join(config.process.dataDir, 'outbox') : undefined;
  if (internalKey === undefined) printStep('Notify', 'skipped: INTERNAL_KEY is not configured');
  else await notifyUser(notify, internalKey, { userId, email }, outbox);
  return 0;
}
