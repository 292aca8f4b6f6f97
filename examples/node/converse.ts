/**
 * Uploads an image, signs its URLs, and streams the agent's answer about it.
 *
 *     npm start                                   # in the repository, in another terminal
 *     npm run build:client && npm install --prefix examples/node
 *     ATELIER_TOKEN=$(npm run -s token) node examples/node/converse.ts photo.jpg
 */
import { randomUUID } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { AtelierError, createAtelier, createUpload } from '@atelier/client';

const { ATELIER_TOKEN, MEDIA_URL = 'http://localhost:4001', AGENT_URL = 'http://localhost:4004' } = process.env;
const [file = 'photo.jpg', question = 'Make an image like this one, in the evening.'] = process.argv.slice(2);

const atelier = createAtelier({
  urls: { media: MEDIA_URL, agent: AGENT_URL },
  credential: { accessToken: () => ATELIER_TOKEN ?? '' },
});

try {
  const threadId = randomUUID();
  const bytes = await openAsBlob(file, { type: 'image/jpeg' });
  const upload = createUpload(atelier.media, bytes, { scopeKind: 'thread', scopeId: threadId, kind: 'image' });
  const { assetId, width, height } = await upload.run({
    onProgress: ({ sentBytes, totalBytes }) => console.log(`sent ${sentBytes} of ${totalBytes} bytes`),
  });
  console.log(`registered ${assetId}, ${width} × ${height}`);

  const signed = await atelier.media.signImages({ refs: [assetId] });
  const image = signed[assetId];
  if (image?.ready) console.log(`preview ${image.previewUrl}`);

  const { taskId } = await atelier.agent.startTask({
    threadId,
    message: {
      role: 'user',
      parts: [
        { type: 'text', text: question },
        { type: 'file', mediaType: 'image/jpeg', url: `asset:${assetId}` },
      ],
    },
  });
  for await (const chunk of atelier.agent.followRun(taskId)) {
    if (chunk.type === 'text-delta') process.stdout.write(chunk.delta);
    else if (chunk.type === 'tool-input-available') console.log(`\n[${chunk.toolName} ${JSON.stringify(chunk.input)}]`);
    else if (chunk.type === 'error') throw new Error(chunk.errorText);
  }
  console.log();
} catch (error) {
  if (!(error instanceof AtelierError)) throw error;
  console.error(`${error.code}: ${error.message} (${error.requestId ?? 'no answer'})`);
  process.exitCode = 1;
}
