/** Writes a signed manifest into JPEG and PNG, the formats that the package writes. */
import { sign } from 'node:crypto';
import { p256, p384 } from '@noble/curves/nist.js';
import { JPEG, PNG } from '@trustnxt/c2pa-ts/asset';
import { CoseAlgorithmIdentifier, type Signer } from '@trustnxt/c2pa-ts/cose';
import {
  ActionAssertion,
  ActionType,
  ClaimVersion,
  DataHashAssertion,
  DigitalSourceType,
  ManifestStore,
} from '@trustnxt/c2pa-ts/manifest';
import type { Generated } from '#platform/metadata/xmp.ts';
import { algorithmOf, type Identity } from './identity.ts';

/** The content of a manifest. */
export interface Claim {
  /** Names the manifest, so that the same image always has the same bytes. */
  readonly assetId: string;
  readonly generated: Generated;
}

const sourceTypes = {
  ai: DigitalSourceType.TrainedAlgorithmicMedia,
  edited: DigitalSourceType.CompositeWithTrainedAlgorithmicMedia,
} as const;

/** The same bytes and claim give the same result. A manifest that the image has is replaced. */
export async function signImage(
  bytes: Uint8Array,
  { assetId, generated }: Claim,
  identity: Identity,
  brandName: string,
): Promise<Uint8Array> {
  const asset = PNG.canRead(bytes) ? new PNG(bytes) : JPEG.canRead(bytes) ? new JPEG(bytes) : undefined;
  if (asset === undefined) return bytes;
  const signer = signerOf(identity);
  const store = new ManifestStore();
  const manifest = store.createManifest({
    claimVersion: ClaimVersion.V2,
    assetFormat: asset.mimeType,
    instanceID: `xmp:iid:${assetId}`,
    defaultHashAlgorithm: 'SHA-256',
    signer,
  });
  manifest.label = `urn:c2pa:${assetId}`;
  if (manifest.claim !== undefined) manifest.claim.claimGeneratorName = brandName;
  const hash = DataHashAssertion.create('SHA-256');
  const actions = new ActionAssertion();
  actions.label = 'c2pa.actions.v2';
  actions.actions.push({ action: ActionType.C2paCreated, digitalSourceType: sourceTypes[generated] });
  for (const assertion of [hash, actions]) manifest.addAssertion(assertion);
  await asset.ensureManifestSpace(store.measureSize());
  await hash.updateWithAsset(asset);
  await manifest.sign(signer);
  await asset.writeManifestJUMBF(store.getBytes());
  return asset.getDataRange();
}

/** In place of the package's signer, whose EC signatures are in DER. COSE needs both numbers one after the other. */
function signerOf({ key, chain: [own, ...others] }: Identity): Signer {
  const algorithm = algorithmOf(key);
  if (own === undefined || algorithm === undefined)
    throw new Error('the certificate or the key of a signer is missing');
  // Only the bytes are read.
  const certificateOf = ({ raw }: { readonly raw: Buffer }) => ({ rawData: raw }) as unknown as Signer['certificate'];
  return {
    algorithm: CoseAlgorithmIdentifier[algorithm],
    certificate: certificateOf(own),
    chainCertificates: others.map(certificateOf),
    sign: async (payload) => {
      if (algorithm === 'Ed25519') return new Uint8Array(sign(null, payload, key));
      const secret = Buffer.from(key.export({ format: 'jwk' }).d ?? '', 'base64url');
      // OpenSSL's signatures differ each time (RFC 6979).
      return (algorithm === 'ES256' ? p256 : p384).sign(payload, secret, { lowS: false });
    },
  };
}
