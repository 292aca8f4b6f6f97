/** Named lists of options that signed URLs can refer to: `IMGPROXY_PRESETS`, in imgproxy's notation. */
import { Problem } from '#platform/problem.ts';
import { readOption } from './processing.ts';

/** The options of each name, as in a URL. */
export type Presets = ReadonlyMap<string, readonly string[]>;

export const noPresets: Presets = new Map();

export const isPreset = (option: string) => /^(pr|preset):/.test(option);

/** Parses `name=option/option,name=option`. Throws an Error with the reason. */
export function parsePresets(text: string): Presets {
  const presets = new Map<string, readonly string[]>();
  for (const entry of text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean)) {
    const equals = entry.indexOf('=');
    const name = entry.slice(0, Math.max(0, equals)).trim();
    if (!/^[\w-]{1,64}$/.test(name)) throw new Error(`must be name=options, separated by commas; "${entry}" is not`);
    if (name === 'default') throw new Error('must not have a preset "default": it would change the images of Atelier');
    presets.set(
      name,
      entry
        .slice(equals + 1)
        .trim()
        .split('/')
        .filter(Boolean),
    );
  }
  for (const [name, options] of presets) for (const option of options) assertKnown(presets, name, option);
  return presets;
}

function assertKnown(presets: Presets, name: string, option: string): void {
  const [title = '', ...args] = option.split(':');
  if (isPreset(option)) {
    const unknown = args.find((arg) => !presets.has(arg));
    if (unknown !== undefined) throw new Error(`has a preset "${name}" that refers to "${unknown}", which is missing`);
    return;
  }
  try {
    readOption(title, args);
  } catch (error) {
    const issue = error instanceof Problem ? error.details.issues?.[0] : undefined;
    throw new Error(`has a preset "${name}" with a wrong option "${option}": ${issue?.message ?? String(error)}`);
  }
}
