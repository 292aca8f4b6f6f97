/**
 * Content credentials (C2PA) of the originals that a generation made (C2PA_CERTIFICATE, C2PA_PRIVATE_KEY;
 * docs/specification/media.md#content-credentials). The package is loaded with the first image.
 */
import type { Log } from '#platform/log.ts';
import type { MediaSettings } from '../config.ts';
import { readIdentity } from './identity.ts';
import type { Claim } from './signing.ts';

export interface Credentials {
  /** Returns the same bytes for formats that cannot be signed, and if signing fails, with a warning in the log. */
  sign(bytes: Uint8Array, claim: Claim): Promise<Uint8Array>;
}

type CredentialSettings = Pick<MediaSettings, 'c2paCertificate' | 'c2paPrivateKey'>;

export function createCredentials(settings: CredentialSettings, brandName: string, log: Log): Credentials | undefined {
  const { c2paCertificate, c2paPrivateKey } = settings;
  if (c2paCertificate === undefined || c2paPrivateKey === undefined) return undefined;
  const identity = readIdentity(c2paCertificate, c2paPrivateKey);
  return {
    sign: async (bytes, claim) => {
      try {
        const { signImage } = await import('./signing.ts');
        return await signImage(bytes, claim, identity, brandName);
      } catch (error) {
        log.warn(
          { err: error, assetId: claim.assetId },
          'an image has no content credentials, because it could not be signed',
        );
        return bytes;
      }
    },
  };
}
