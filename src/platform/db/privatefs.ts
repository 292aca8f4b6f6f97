/** PGlite's files, readable by their owner alone. */
import type { PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';

type Options = Parameters<NodeFS['init']>[1];

interface Attributes {
  readonly mode?: number;
}

interface NodeFilesystem {
  readonly node_ops: { setattr(node: unknown, attributes: Attributes): void };
}

/** Emscripten sets the mode of each file that it creates (0666), whatever the umask is. */
export class PrivateFs extends NodeFS {
  override async init(lite: PGlite, options: Options) {
    const { emscriptenOpts } = await super.init(lite, options);
    const preRun: Options['preRun'] = [({ FS }) => keepPrivate(FS), ...(emscriptenOpts.preRun ?? [])];
    return { emscriptenOpts: { ...emscriptenOpts, preRun } };
  }
}

function keepPrivate({ filesystems }: object & { readonly filesystems?: { readonly NODEFS: NodeFilesystem } }): void {
  if (filesystems === undefined) throw new Error('PGlite has no file system of Node');
  const operations = filesystems.NODEFS.node_ops;
  const { setattr } = operations;
  operations.setattr = (node, attributes) => {
    const { mode } = attributes;
    setattr(node, typeof mode === 'number' ? { ...attributes, mode: mode & ~0o077 } : attributes);
  };
}
