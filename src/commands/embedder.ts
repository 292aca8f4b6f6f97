/** `npm run embedder`: downloads a model for `EMBEDDING_BASE_URL=local` (docs/memory.md). Can be stopped and repeated. */
import { readConfig } from '#app/config.ts';
import { fetchModel } from '#memory/embedding/local/fetching.ts';
import { defaultModel, isFolder } from '#memory/embedding/local/models.ts';
import { StartFault } from '#platform/lifecycle.ts';
import { type Progress, startProgress } from './progress.ts';
import { readArguments, usageOf } from './usage.ts';

const defaultHub = 'https://huggingface.co';

export async function embedder(args: readonly string[]): Promise<number> {
  const [model, hub] = read(args);
  const config = readConfig(process.env, []);
  const { dataDir } = config.process;
  let progress: Progress | undefined;
  const folder = await fetchModel({
    model: model ?? defaultModel,
    dataDir,
    hub,
    onStart: (totalBytes) => {
      progress = startProgress('Downloading', totalBytes);
      return progress.add;
    },
  });
  progress?.end();
  console.log(`The model is in ${folder}. Set EMBEDDING_BASE_URL=local to use it.`);
  return 0;
}

function read(args: readonly string[]): readonly [model: string | undefined, hub: string] {
  const options = { hub: { type: 'string', default: defaultHub } } as const;
  const { words, values } = readArguments('embedder', args, { most: 1, options });
  const { hub } = values;
  if (!URL.canParse(hub) || !/^https?:$/.test(new URL(hub).protocol)) throw new StartFault(usageOf('embedder'));
  const named = words[0] ?? (process.env.EMBEDDING_MODEL || undefined);
  if (named !== undefined && isFolder(named))
    throw new StartFault(`EMBEDDING_MODEL is the folder ${named}, which needs no download.`);
  return [named, hub.replace(/\/$/, '')];
}
