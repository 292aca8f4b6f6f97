/** Content credentials of generated originals (docs/specification/media.md#content-credentials). */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '#platform/log.ts';
import { readMark } from '#platform/metadata/metadata.ts';
import {
  makeSigner,
  readManifests,
  type SignerFiles,
  skipWithoutReader,
} from '../../../test/media/credentials.fixture.ts';
import { embedded, type MediaRig, startMedia, upload } from '../../../test/media/rig.fixture.ts';
import { skipWithout } from '../../../test/programs.fixture.ts';
import { createCredentials } from './credentials.ts';
import { findUnusable } from './identity.ts';

const folder = mkdtempSync(join(tmpdir(), 'credentials-'));
const log = createLog({ level: 'silent' });
const brandName = 'Maison Ørsted 画';
const asSettings = ({ certificate, privateKey }: SignerFiles) => ({
  c2paCertificate: certificate,
  c2paPrivateKey: privateKey,
});
const actionOf = (type: string) => ({
  label: 'c2pa.actions.v2',
  data: {
    actions: [
      expect.objectContaining({
        action: 'c2pa.created',
        digitalSourceType: `http://cv.iptc.org/newscodes/digitalsourcetype/${type}`,
      }),
    ],
  },
});

describe.skipIf(skipWithout('openssl'))('content credentials', () => {
  let signer: SignerFiles;
  let rig: MediaRig;
  beforeAll(async () => {
    signer = makeSigner(folder, 'es256');
    const brand = {
      name: brandName,
      picture: undefined,
      position: 'soea',
      opacity: 0.5,
      scale: 0.2,
      closing: 'auto',
    } as const;
    rig = await startMedia(embedded, { credentials: asSettings(signer), brand });
  });
  afterAll(async () => {
    await rig.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const formats = { jpeg: 'jpg', png: 'png', webp: 'webp' } as const;
  type Format = keyof typeof formats;
  let shade = 0;
  const imageIn = (format: Format) =>
    sharp({ create: { width: 320, height: 200, channels: 3, background: { r: ++shade, g: 90, b: 200 } } })
      .toFormat(format)
      .toBuffer();

  function file(name: string, bytes: Uint8Array): string {
    writeFileSync(join(folder, name), bytes);
    return join(folder, name);
  }

  /** A registration by a server, or of a user without a mark. Returns the original as the owner gets it. */
  async function register(format: Format, bytes: Uint8Array, generated?: 'ai' | 'edited', scopeKind = 'generation') {
    const client = generated === undefined ? rig.user : rig.server;
    const changes = {
      ...{ mime: `image/${format}`, scopeKind },
      ...(generated && { generated, ownerId: rig.userId }),
    };
    const { registration } = await upload(client, bytes, changes);
    const first = await client.register({ ...registration, ...changes });
    const again = await client.register({ ...registration, ...changes });
    expect([first.status, again.status, again.body]).toEqual([201, 200, first.body]);
    const { assetId, byteSize } = first.body;
    const ref = (await rig.user.sign([assetId])).body[assetId];
    const original = Buffer.from(await (await fetch(ref?.ready ? ref.url : '')).arrayBuffer());
    expect(original.length).toBe(byteSize);
    return { assetId, original };
  }

  describe.skipIf(skipWithoutReader)('read by c2pa-python', () => {
    it.each([
      ['jpeg', 'ai', 'generation', 'trainedAlgorithmicMedia'],
      ['png', 'ai', 'feed', 'trainedAlgorithmicMedia'],
      ['jpeg', 'edited', 'generation', 'compositeWithTrainedAlgorithmicMedia'],
      ['png', 'edited', 'generation', 'compositeWithTrainedAlgorithmicMedia'],
    ] as const)(
      'the original in %s of what is %s, in the scope %s, is signed and has its source type',
      async (format, generated, scopeKind, type) => {
        const { assetId, original } = await register(format, await imageIn(format), generated, scopeKind);
        expect([readMark(original), (await sharp(original).stats()).channels.length]).toEqual([generated, 3]);
        const changed = Buffer.from(original);
        changed.writeUInt8(changed.readUInt8(changed.length - 40) ^ 1, changed.length - 40);
        const ending = formats[format];
        const [read, broken] = await readManifests(signer.root, [
          file(`signed.${ending}`, original),
          file(`changed.${ending}`, changed),
        ]);
        expect(read?.state).toBe('Trusted');
        expect(read?.manifest).toMatchObject({
          label: `urn:c2pa:${assetId}`,
          claim_generator_info: [{ name: brandName }],
          assertions: [actionOf(type)],
          signature_info: { alg: 'Es256', common_name: 'es256' },
        });
        expect(broken?.state).not.toBe('Trusted');
      },
    );

    it('the manifest of a provider is replaced, and that of an upload stays, but not in a copy that others read', async () => {
      const other = makeSigner(folder, 'provider');
      const signAs = createCredentials(asSettings(other), 'Provider', log);
      const claim = { assetId: '0d9f5a34-6f0e-4c7a-9d0b-2f6b8f1c7e11', generated: 'edited' } as const;
      for (const format of ['jpeg', 'png'] as const) {
        const signed = (await signAs?.sign(await imageIn(format), claim)) ?? Buffer.of();
        const made = await register(format, signed, 'ai');
        const uploaded = await register(format, signed);
        expect(Buffer.compare(uploaded.original, signed)).toBe(0);
        const copied = await rig.user.post<{ assetId: string }>('/v1/copy', {
          ...{ fromAssetId: made.assetId, toScopeKind: 'feed', toScopeId: 'here' },
        });
        expect([copied.status, copied.body]).toEqual([201, expect.anything()]);
        const ref = (await rig.user.sign([copied.body.assetId])).body[copied.body.assetId];
        const copy = Buffer.from(await (await fetch(ref?.ready ? ref.url : '')).arrayBuffer());
        const names = [made.original, uploaded.original, copy].map((bytes, index) =>
          file(`manifest${index}.${formats[format]}`, bytes),
        );
        const states = (await readManifests(signer.root, names)).map(({ state, manifest }) => [
          state,
          manifest?.claim_generator_info[0]?.name,
        ]);
        // The root of the provider is not trusted here.
        expect(states).toEqual([
          ['Trusted', brandName],
          ['Valid', 'Provider'],
          ['_C2paManifestNotFound', undefined],
        ]);
        expect(readMark(copy)).toBe('ai');
      }
    });

    it.each(['ES384', 'Ed25519'] as const)('keys for %s sign too', async (kind) => {
      const files = makeSigner(folder, kind, kind);
      // As the content of the files.
      const settings = {
        c2paCertificate: readFileSync(files.certificate, 'utf8'),
        c2paPrivateKey: readFileSync(files.privateKey, 'utf8').replaceAll('\n', '\\n'),
      };
      const claim = { assetId: '0d9f5a34-6f0e-4c7a-9d0b-2f6b8f1c7e11', generated: 'ai' } as const;
      const signed =
        (await createCredentials(settings, brandName, log)?.sign(await imageIn('jpeg'), claim)) ?? Buffer.of();
      const [read] = await readManifests(files.root, [file(`${kind}.jpg`, signed)]);
      expect([read?.state, read?.manifest?.signature_info.alg]).toEqual([
        'Trusted',
        kind[0] + kind.slice(1).toLowerCase(),
      ]);
    });
  });

  it.each(['ES256', 'ES384', 'Ed25519'] as const)(
    '%s signs the same image with the same bytes, also if it was signed before',
    async (kind) => {
      const credentials = createCredentials(asSettings(makeSigner(folder, `same-${kind}`, kind)), brandName, log);
      const claim = { assetId: '0d9f5a34-6f0e-4c7a-9d0b-2f6b8f1c7e11', generated: 'ai' } as const;
      for (const format of ['jpeg', 'png'] as const) {
        const bytes = await imageIn(format);
        const once = (await credentials?.sign(bytes, claim)) ?? Buffer.of();
        expect(Buffer.compare(once, bytes)).not.toBe(0);
        expect(Buffer.compare((await credentials?.sign(bytes, claim)) ?? Buffer.of(), once)).toBe(0);
        expect(Buffer.compare((await credentials?.sign(once, claim)) ?? Buffer.of(), once)).toBe(0);
      }
    },
  );

  it('two registrations of the same image at once leave one readable original', async () => {
    const bytes = await imageIn('png');
    const changes = { mime: 'image/png', generated: 'ai', ownerId: rig.userId };
    const { registration } = await upload(rig.server, bytes, changes);
    const answers = await Promise.all([1, 2, 3].map(() => rig.server.register({ ...registration, ...changes })));
    expect(answers.map(({ status }) => status).every((status) => status === 200 || status === 201)).toBe(true);
    const [first] = answers as [(typeof answers)[0]];
    const { assetId, byteSize } = first.body;
    const ref = (await rig.user.sign([assetId])).body[assetId];
    const read = await fetch(ref?.ready ? ref.url : '');
    expect([read.status, (await read.arrayBuffer()).byteLength]).toEqual([200, byteSize]);
  });

  it('an image in WebP, and one that cannot be signed, keep their bytes', async () => {
    const { original } = await register('webp', await imageIn('webp'), 'ai');
    expect(original.includes('jumb')).toBe(false);
    const claim = { assetId: 'a', generated: 'ai' } as const;
    const broken = (await imageIn('png')).subarray(0, 40);
    const credentials = createCredentials(asSettings(signer), brandName, log);
    expect(await credentials?.sign(broken, claim)).toBe(broken);
  });

  it('names the setting that is wrong', () => {
    const other = makeSigner(folder, 'other');
    const rsa = makeSigner(folder, 'rsa', 'RSA');
    const server = makeSigner(folder, 'server', 'ES256', 'serverAuth');
    const { certificate, privateKey, root } = signer;
    const faultOf = (one: string, two: string) => findUnusable({ C2PA_CERTIFICATE: one, C2PA_PRIVATE_KEY: two })[0];
    expect(findUnusable({})).toEqual([]);
    expect(faultOf(certificate, privateKey)).toBeUndefined();
    expect(faultOf(certificate, '')).toMatch(/^C2PA_CERTIFICATE needs C2PA_PRIVATE_KEY/);
    expect(faultOf('', privateKey)).toMatch(/^C2PA_PRIVATE_KEY needs C2PA_CERTIFICATE/);
    expect(faultOf('/nowhere.pem', privateKey)).toMatch(/^C2PA_CERTIFICATE .*ENOENT/);
    expect(faultOf(certificate, '/nowhere.pem')).toMatch(/^C2PA_PRIVATE_KEY .*ENOENT/);
    expect(faultOf(privateKey, privateKey)).toMatch(/^C2PA_CERTIFICATE has no certificate/);
    expect(faultOf(certificate, certificate)).toMatch(/^C2PA_PRIVATE_KEY must be a private key/);
    expect(faultOf(certificate, other.privateKey)).toMatch(/^C2PA_PRIVATE_KEY is not the key/);
    expect(faultOf(rsa.certificate, rsa.privateKey)).toMatch(/^C2PA_PRIVATE_KEY must be an EC key/);
    expect(faultOf(root, privateKey)).toMatch(/^C2PA_CERTIFICATE must begin with the certificate of a signer/);
    expect(faultOf(server.certificate, server.privateKey)).toMatch(/^C2PA_CERTIFICATE must begin/);
  });
});
