/** The files of models for the `local` embedder: in a folder that the setting names, or in the data folder. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, isAbsolute, join } from 'node:path';
import { z } from 'zod';
import { StartFault } from '#platform/lifecycle.ts';

export const defaultModel = 'Xenova/multilingual-e5-small';

export const tokenizerFile = 'tokenizer.json';
/** The first that exists is used. */
export const networkFiles = [
  'onnx/model_quantized.onnx',
  'model_quantized.onnx',
  'onnx/model.onnx',
  'model.onnx',
] as const;

/** Written after all files of a model, so that its existence shows that they are complete. */
const manifestFile = 'atelier-model.json';
const manifestShape = z.object({
  model: z.string(),
  revision: z.string(),
  files: z.array(z.object({ path: z.string(), size: z.int() })),
});
export type Manifest = z.infer<typeof manifestShape>;

export interface LocalModel {
  /** Stored with the vectors. */
  readonly name: string;
  readonly network: string;
  readonly tokenizer: string;
}

export const isFolder = (model: string) => isAbsolute(model) || model.startsWith('.');

export function folderOf(model: string, dataDir: string): string {
  return join(dataDir, 'models', model.replaceAll('/', '--'));
}

export const manifestOf = (folder: string) => join(folder, manifestFile);

/** Throws a `StartFault` that names the command if files are missing. */
export function findModel(model: string, dataDir: string): LocalModel {
  const folder = isFolder(model) ? model : folderOf(model, dataDir);
  if (!isFolder(model)) assertComplete(model, folder);
  const network = networkFiles.map((path) => join(folder, path)).find((path) => existsSync(path));
  const tokenizer = join(folder, tokenizerFile);
  if (network === undefined) throw new StartFault(`${folder} has no ONNX file (${networkFiles.join(', ')}). ${advice}`);
  if (!existsSync(tokenizer)) throw new StartFault(`${folder} has no ${tokenizerFile}. ${advice}`);
  return { name: isFolder(model) ? basename(folder) : model, network, tokenizer };
}

const advice = 'Run `npm run embedder`, or set EMBEDDING_MODEL to the folder of a model.';

function assertComplete(model: string, folder: string): void {
  const manifest = readManifest(folder);
  if (manifest === undefined)
    throw new StartFault(`EMBEDDING_BASE_URL is \`local\`, but the files of ${model} are not in ${folder}. ${advice}`);
  for (const { path, size } of manifest.files) {
    const found = statSync(join(folder, path), { throwIfNoEntry: false })?.size;
    if (found !== size) throw new StartFault(`${join(folder, path)} is not complete. ${advice}`);
  }
}

export function readManifest(folder: string): Manifest | undefined {
  try {
    return manifestShape.parse(JSON.parse(readFileSync(manifestOf(folder), 'utf8')));
  } catch {
    return undefined;
  }
}
