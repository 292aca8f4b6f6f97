/** The signer of content credentials: C2PA_CERTIFICATE and C2PA_PRIVATE_KEY (docs/specification/media.md#content-credentials). */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Environment } from '#platform/config.ts';

/** A key, and the certificates from its own to the last one below the root. */
export interface Identity {
  readonly key: KeyObject;
  readonly chain: readonly X509Certificate[];
}

/** Extended key usages that C2PA accepts for signers: email protection, document signing, C2PA claim signing. */
const signerUsages = ['1.3.6.1.5.5.7.3.4', '1.3.6.1.5.5.7.3.36', '1.3.6.1.4.1.62558.2.1'];

/** Throws an Error whose message begins with the setting. */
export function readIdentity(certificate: string, privateKey: string): Identity {
  const chain = readChain(certificate);
  const [signer] = chain;
  if (signer === undefined) throw new Error('C2PA_CERTIFICATE has no certificate in PEM');
  const key = readKey(privateKey);
  if (signer.ca || !signer.keyUsage?.some((usage) => signerUsages.includes(usage)))
    throw new Error(
      'C2PA_CERTIFICATE must begin with the certificate of a signer: no authority, with an extended key usage such as emailProtection',
    );
  if (!signer.checkPrivateKey(key))
    throw new Error('C2PA_PRIVATE_KEY is not the key of the first certificate in C2PA_CERTIFICATE');
  return { key, chain: chain.filter(({ subject, issuer }) => subject !== issuer) };
}

function readChain(setting: string): readonly X509Certificate[] {
  const pems = readPem('C2PA_CERTIFICATE', setting).match(
    /-----BEGIN CERTIFICATE-----[^-]{1,20000}-----END CERTIFICATE-----/g,
  );
  try {
    return (pems ?? []).map((pem) => new X509Certificate(pem));
  } catch {
    throw new Error('C2PA_CERTIFICATE has a certificate that cannot be read');
  }
}

function readKey(setting: string): KeyObject {
  const pem = readPem('C2PA_PRIVATE_KEY', setting);
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    throw new Error('C2PA_PRIVATE_KEY must be a private key in PEM, without a passphrase');
  }
  if (algorithmOf(key) === undefined)
    throw new Error('C2PA_PRIVATE_KEY must be an EC key on P-256 or P-384, or an Ed25519 key');
  return key;
}

/** The path of a file, or its content. */
function readPem(variable: string, setting: string): string {
  if (setting.trimStart().startsWith('-----BEGIN')) return setting.replaceAll('\\n', '\n');
  try {
    return readFileSync(setting, 'utf8');
  } catch (error) {
    throw new Error(`${variable} names a file that cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

/** COSE's names. Signatures of RSA keys differ each time, and registrations need the same bytes again. */
export function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject) {
  if (asymmetricKeyType === 'ed25519') return 'Ed25519';
  const curves = { prime256v1: 'ES256', secp384r1: 'ES384' } as const;
  const curve = asymmetricKeyDetails?.namedCurve ?? '';
  return Object.hasOwn(curves, curve) ? curves[curve as keyof typeof curves] : undefined;
}

/** The fault of the settings as a sentence. */
export function findUnusable({
  C2PA_CERTIFICATE: certificate,
  C2PA_PRIVATE_KEY: privateKey,
}: Environment): readonly string[] {
  if (!certificate && !privateKey) return [];
  if (!certificate) return ['C2PA_PRIVATE_KEY needs C2PA_CERTIFICATE'];
  if (!privateKey) return ['C2PA_CERTIFICATE needs C2PA_PRIVATE_KEY'];
  try {
    readIdentity(certificate, privateKey);
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
}
