/**
 * Executes a Dockerfile without a container engine: each stage is a folder, `COPY` copies, and `RUN` runs there. The contents of the
 * base image (system packages) are not installed but reported.
 */
import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, rename } from 'node:fs/promises';
import { basename, dirname, join, matchesGlob, relative } from 'node:path';
import { promisify } from 'node:util';

interface Instruction {
  readonly word: string;
  readonly rest: string;
}

export interface Built {
  /** The folder for `/` in the image. */
  readonly root: string;
  readonly workdir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly user: string | undefined;
  /** Packages that the system's package manager would install. */
  readonly packages: readonly string[];
  readonly baseImages: readonly string[];
  readonly entrypoint: readonly string[];
  readonly healthCheck: readonly string[];
}

/** Builds the last stage below `folder`. `owner` replaces the image's user in `chown`. */
export async function build(dockerfile: string, context: string, folder: string, owner: string): Promise<Built> {
  const ignored = parseIgnore(await readFile(join(context, '.dockerignore'), 'utf8'));
  const stages = new Map<string, string>();
  const baseImages: string[] = [];
  const packages: string[] = [];
  let stage = { root: folder, workdir: '/', env: {} as Record<string, string>, user: undefined as string | undefined };
  let entrypoint: readonly string[] = [];
  let healthCheck: readonly string[] = [];
  const inStage = (path: string) => join(stage.root, path.startsWith('/') ? path : join(stage.workdir, path));

  const defaults: Record<string, string> = {};
  for (const { word, rest } of parse(dockerfile)) {
    if (word === 'ARG') {
      const [name = '', value = ''] = rest.split('=');
      defaults[name] = value;
    } else if (word === 'FROM') {
      const [named = '', name = String(stages.size)] = rest.split(/ AS /i);
      const image = named.replaceAll(/\$\{(\w+)\}/g, (_all, variable: string) => defaults[variable] ?? '');
      baseImages.push(image);
      stage = { root: join(folder, name), workdir: '/', env: {}, user: undefined };
      stages.set(name, stage.root);
    } else if (word === 'WORKDIR') {
      stage.workdir = rest;
      await mkdir(inStage('.'), { recursive: true });
    } else if (word === 'COPY') {
      const [, from] = /^--from=(\S+)/.exec(rest) ?? [];
      const words = rest.split(/\s+/).filter((part) => !part.startsWith('--'));
      const target = words.pop() ?? '';
      for (const path of words) {
        const source = from === undefined ? join(context, path) : join(stages.get(from) ?? '', path);
        const to = inStage(target.endsWith('/') ? join(target, basename(path)) : target);
        await mkdir(dirname(to), { recursive: true });
        // No later instruction reads the files of a finished stage, and moving them is faster.
        if (from !== undefined) await rename(source, to);
        else await cp(source, to, { recursive: true, filter: (file) => !ignored(relative(context, file)) });
      }
    } else if (word === 'RUN') {
      const commands = rest.split('&&').map((command) => command.trim());
      packages.push(...commands.flatMap((command) => /^apt-get install (.+)$/.exec(command)?.[1]?.split(' ') ?? []));
      const here = commands
        .filter((command) => !command.startsWith('apt-get') && !command.includes('/var/lib/apt'))
        .map((command) => command.replaceAll(/(?<=\s)\/\w+/g, inStage).replaceAll('node:node', owner));
      if (here.length > 0)
        await promisify(execFile)('sh', ['-ec', here.join(' && ')], {
          cwd: inStage('.'),
          env: {
            ...process.env,
            // The image has this Node.
            PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
            npm_config_prefer_offline: 'true',
            npm_config_audit: 'false',
            ...stage.env,
          },
        });
    } else if (word === 'ENV')
      Object.assign(stage.env, Object.fromEntries(rest.split(' ').map((pair) => pair.split('='))));
    else if (word === 'USER') stage.user = rest;
    else if (word === 'ENTRYPOINT') entrypoint = JSON.parse(rest);
    else if (word === 'HEALTHCHECK') healthCheck = JSON.parse(rest.slice(rest.indexOf('CMD') + 3));
    else if (!['VOLUME', 'EXPOSE', 'STOPSIGNAL'].includes(word)) throw new Error(`${word} is not supported here`);
  }
  return { ...stage, packages: packages.filter((word) => !word.startsWith('-')), baseImages, entrypoint, healthCheck };
}

function parse(text: string): readonly Instruction[] {
  return text
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => ({ word: line.split(' ')[0] ?? '', rest: line.slice(line.indexOf(' ') + 1).trim() }));
}

/** If several lines match a path or a parent folder, the last one decides. */
function parseIgnore(text: string): (path: string) => boolean {
  const rules = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
  return (path) => {
    const trail = path.split('/').map((_part, index, parts) => parts.slice(0, index + 1).join('/'));
    const fits = (rule: string) => trail.some((part) => matchesGlob(part, rule.replace(/^!/, '')));
    // A folder is entered if it may contain included files.
    return path !== '' && !(rules.findLast(fits) ?? '!').startsWith('!');
  };
}
