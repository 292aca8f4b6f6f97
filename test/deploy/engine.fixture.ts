/** The container engine of this machine, and the base image of deploy/Dockerfile, which is made here if no registry has it. */
import { execFile, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { copyFile, cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../acceptance/running.fixture.ts';

const succeeds = (program: string, ...words: readonly string[]) =>
  spawnSync(program, words, { stdio: 'ignore' }).status === 0;

/** Docker or Podman, if it runs here. */
export const engine = ['docker', 'podman'].find((program) => succeeds(program, 'info'));

/** Runs the engine. Resolves with its output. */
export async function call(...words: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(String(engine), words, { cwd: root, maxBuffer: 64 * 1024 * 1024 });
  return stdout.trim();
}

/** A name that no other test has. */
export const uniqueTag = () => `atelier-test:${randomBytes(6).toString('hex')}`;

interface BaseImage {
  readonly name: string;
  remove(): Promise<unknown>;
}

/** The default base image of the Dockerfile. Without a registry, it is made of Debian's packages and of this Node. */
export async function openBaseImage(): Promise<BaseImage> {
  const [, name = ''] = /^ARG NODE_IMAGE=(\S+)$/m.exec(await readFile(join(root, 'deploy/Dockerfile'), 'utf8')) ?? [];
  const isThere = succeeds(String(engine), 'image', 'inspect', name) || succeeds(String(engine), 'pull', name);
  return isThere ? { name, remove: async () => undefined } : makeBaseImage();
}

async function makeBaseImage(): Promise<BaseImage> {
  const name = uniqueTag();
  const folder = await mkdtemp(join(tmpdir(), 'atelier-base-'));
  const tree = join(folder, 'tree');
  const perform = promisify(execFile);
  try {
    await perform('debootstrap', ['--variant=minbase', '--include=ca-certificates', 'bookworm', tree]);
    await perform('chroot', [tree, 'useradd', '--uid', '1000', '--create-home', 'node']);
    await copyFile(process.execPath, join(tree, 'usr/local/bin/node'));
    const { stdout: modules } = await perform('npm', ['root', '--global']);
    await cp(join(modules.trim(), 'npm'), join(tree, 'usr/local/lib/node_modules/npm'), { recursive: true });
    await symlink('../lib/node_modules/npm/bin/npm-cli.js', join(tree, 'usr/local/bin/npm'));
    // The network of this machine can require a certificate of its own.
    const certificates = process.env.NODE_EXTRA_CA_CERTS;
    const inside = '/etc/ssl/certs/ca-certificates.crt';
    if (certificates !== undefined) await copyFile(certificates, join(tree, inside));
    await perform('tar', ['-C', tree, '-cf', join(folder, 'tree.tar'), '.']);
    await call('import', '--change', `ENV NODE_EXTRA_CA_CERTS=${inside}`, join(folder, 'tree.tar'), name);
  } finally {
    await rm(folder, { recursive: true });
  }
  return { name, remove: () => call('rmi', '--force', name) };
}
