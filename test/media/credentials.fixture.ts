/** Signers of content credentials, by openssl, and a reader that is not ours: c2pa-python in the folder `C2PA_TEST_FOLDER`. */
import { execFile, execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const { C2PA_TEST_FOLDER: packages } = process.env;
export const skipWithoutReader = !packages;

export interface SignerFiles {
  /** Of the signer and its authority. */
  readonly certificate: string;
  readonly privateKey: string;
  /** Of the authority. */
  readonly root: string;
}

const keyKinds = {
  ES256: ['EC', '-pkeyopt', 'ec_paramgen_curve:P-256'],
  ES384: ['EC', '-pkeyopt', 'ec_paramgen_curve:P-384'],
  Ed25519: ['ED25519'],
  RSA: ['RSA', '-pkeyopt', 'rsa_keygen_bits:2048'],
} as const;

/** A signer below an authority. `usage`: its extended key usage. */
export function makeSigner(
  folder: string,
  name: string,
  kind: keyof typeof keyKinds = 'ES256',
  usage = 'emailProtection',
): SignerFiles {
  const file = (suffix: string) => join(folder, `${name}.${suffix}`);
  const openssl = (...args: readonly string[]) => execFileSync('openssl', args, { stdio: 'ignore' });
  const [algorithm, ...options] = keyKinds[kind];
  openssl('genpkey', '-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256', '-out', file('root.key'));
  const authority = ['-addext', 'keyUsage=critical,keyCertSign,cRLSign'];
  const root = ['-key', file('root.key'), '-days', '9', '-subj', `/O=Tests/CN=${name} root`, '-out', file('root.pem')];
  openssl('req', '-x509', '-new', ...root, ...authority);
  openssl('genpkey', '-algorithm', algorithm, ...options, '-out', file('key'));
  openssl('req', '-new', '-key', file('key'), '-subj', `/O=Tests/CN=${name}`, '-out', file('csr'));
  const extensions = ['basicConstraints=critical,CA:FALSE', 'keyUsage=critical,digitalSignature'];
  const identifiers = ['subjectKeyIdentifier=hash', 'authorityKeyIdentifier=keyid'];
  writeFileSync(file('ext'), [...extensions, ...identifiers, `extendedKeyUsage=${usage}`, ''].join('\n'));
  const by = ['-CA', file('root.pem'), '-CAkey', file('root.key'), '-CAcreateserial', '-extfile', file('ext')];
  openssl('x509', '-req', '-in', file('csr'), ...by, '-days', '8', '-out', file('own.pem'));
  writeFileSync(file('pem'), readFileSync(file('own.pem'), 'utf8') + readFileSync(file('root.pem'), 'utf8'));
  return { certificate: file('pem'), privateKey: file('key'), root: file('root.pem') };
}

export interface ReadManifest {
  /** `Trusted`, `Invalid`, or the name of an error. */
  readonly state: string;
  readonly manifest?: {
    readonly label: string;
    readonly claim_generator_info: readonly { readonly name: string }[];
    readonly assertions: readonly { readonly label: string; readonly data: unknown }[];
    readonly signature_info: Readonly<Record<string, unknown>>;
  };
}

/** One for each file. Their names have the ending of their format. */
export async function readManifests(root: string, files: readonly string[]): Promise<readonly ReadManifest[]> {
  const script = fileURLToPath(new URL('./c2pareader.py', import.meta.url));
  const env = { ...process.env, PYTHONPATH: packages };
  const { stdout } = await promisify(execFile)('python3', [script, root, ...files], { env });
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as ReadManifest);
}
