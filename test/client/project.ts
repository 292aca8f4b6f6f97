/** An empty project with the packed client installed, as in an application. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../acceptance/running.fixture.ts';

export interface Project {
  readonly folder: string;
  /** Links further packages from Atelier's own dependencies. */
  link(...packages: readonly string[]): Promise<void>;
  /** Whether npm can resolve the client beside this version of a package. Installs nothing. */
  resolvesBeside(name: string, version: string): Promise<boolean>;
  write(name: string, text: string): Promise<void>;
  /** Runs Node and returns its output. Rejects with the output if the program fails. */
  run(words: readonly string[], env?: Readonly<Record<string, string>>): Promise<string>;
  /** Returns the compiler's errors, or an empty string. */
  check(files: readonly string[], options: object): Promise<string>;
  remove(): Promise<void>;
}

/** Follows the installation lines of docs/client.md, without a network. */
export async function installClient(): Promise<Project> {
  const folder = await mkdtemp(join(tmpdir(), 'client-project-'));
  const built = join(folder, 'built');
  const [lines = ''] = blocksOf('sh', await readFile(join(root, 'docs/client.md'), 'utf8'));
  const script = lines
    .replace('npm run build:client', `${process.execPath} ${join(root, 'launch.mjs')} build:client ${built}`)
    .replace('npm pack ./build/client', `npm pack ${built}`)
    .replace('npm install /path/to/', 'npm install --offline --no-audit --no-fund ./');
  const write = (name: string, text: string) => writeFile(join(folder, name), text);
  await write('package.json', '{ "name": "application", "private": true, "type": "module" }');
  const call = promisify(execFile);
  // The hook of the tests would load the build in place of the launcher's program.
  const { NODE_OPTIONS: _, TESTED_BUILD: __, ...env } = process.env;
  await call('bash', ['-euo', 'pipefail', '-c', script], { cwd: folder, env });

  const run: Project['run'] = async (words, env = {}) => {
    const options = { cwd: folder, env: { PATH: process.env.PATH, ...env } };
    const { stdout } = await call(process.execPath, words, options).catch((error) => {
      throw new Error(`${error.stdout}\n${error.stderr}`);
    });
    return stdout;
  };
  return {
    folder,
    write,
    run,
    link: async (...packages) => {
      for (const name of packages) {
        const target = join(folder, 'node_modules', name);
        await mkdir(dirname(target), { recursive: true });
        await symlink(join(root, 'node_modules', name), target);
      }
    },
    resolvesBeside: async (name, version) => {
      const application = join(folder, `beside-${version}`);
      await mkdir(join(application, name), { recursive: true });
      await writeFile(join(application, 'package.json'), '{ "name": "application", "private": true }');
      await writeFile(join(application, name, 'package.json'), JSON.stringify({ name, version }));
      await call('npm', ['pack', `./${name}`], { cwd: application });
      const [client = ''] = (await readdir(folder)).filter((file) => file.endsWith('.tgz'));
      const packages = [`./${name}-${version}.tgz`, join(folder, client)];
      const quiet = ['--offline', '--dry-run', '--no-audit', '--no-fund'];
      // A conflict of an optional peer is a warning, unless the cache of the machine contains a version without a conflict.
      const words = ['install', ...quiet, '--cache', join(folder, 'cache'), ...packages];
      const { stderr } = await call('npm', words, { cwd: application });
      return !stderr.includes('ERESOLVE');
    },
    check: async (files, compilerOptions) => {
      const strict = { target: 'es2022', strict: true, noUncheckedIndexedAccess: true, noEmit: true, types: [] };
      await write('tsconfig.json', JSON.stringify({ compilerOptions: { ...strict, ...compilerOptions }, files }));
      return run([join(root, 'node_modules/typescript/bin/tsc'), '--singleThreaded', '--project', folder]).catch(
        String,
      );
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Returns the code blocks of a Markdown page. */
export const blocksOf = (language: string, page: string): readonly string[] =>
  [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)].flatMap(([, tag, block = '']) => (tag === language ? [block] : []));
