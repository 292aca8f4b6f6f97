/** The one place that chooses the driver of the object store (CONTRACT §2). */
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import { ConfigFault } from '../config.ts';
import { type EdgeAddressing, openFilesystem } from './filesystem.ts';
import type { Objects } from './objects.ts';

/** The settings group `objects`. */
export interface ObjectsSettings {
  /** `embedded`, or an S3 server's address. */
  readonly endpoint: string;
  readonly region: string | undefined;
  readonly bucket: string | undefined;
  readonly publicBucket: string | undefined;
  readonly accessKeyId: string | undefined;
  readonly secretAccessKey: string | undefined;
}

export interface OpenObjectsOptions {
  readonly settings: ObjectsSettings;
  readonly dataDir: string;
  readonly clock: Clock;
  /** What files need for signed addresses; a process that hands none out may leave it away. */
  readonly edge?: EdgeAddressing;
}

export interface OpenedObjects {
  readonly driver: 'files' | 's3';
  /** Never public. */
  readonly originals: Objects;
  /** Variants. */
  readonly publicObjects: Objects;
  close(): Promise<void>;
}

export async function openObjects(options: OpenObjectsOptions): Promise<OpenedObjects> {
  if (options.settings.endpoint !== 'embedded') throw new ConfigFault(['S3_ENDPOINT is not supported yet']);
  const open = (bucket: string, folder: string) =>
    openFilesystem({
      bucket,
      root: join(options.dataDir, folder),
      stagingFolder: join(options.dataDir, '.incoming'),
      clock: options.clock,
      edge: options.edge,
    });
  return {
    driver: 'files',
    originals: open('objects', 'objects'),
    publicObjects: open('public', 'public'),
    close: async () => undefined,
  };
}
