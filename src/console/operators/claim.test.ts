/** Operators by a claim of the identity provider: the settings, and tokens with and without the claim. */
import { generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsoleServer, startConsoleServer } from '../../../test/console/server.fixture.ts';
import { startTestIssuer, type TestIssuer } from '../../../test/platform/tokenissuer.fixture.ts';
import { consoleSettings } from '../config.ts';

const { claim: setting } = consoleSettings;

describe('OPERATOR_CLAIM', () => {
  it('is a claim and its value', () => {
    expect(setting.parse('app_metadata.role=operator')).toBe('app_metadata.role=operator');
    expect(setting.parse(' app_metadata.roles = a=b ')).toBe('app_metadata.roles=a=b');
    expect(setting.parse('')).toBeUndefined();
  });

  it.each(['operator', 'app_metadata.role=', '=operator', 'app_metadata..role=operator', '.=x'])('is not %s', (raw) => {
    expect(() => setting.parse(raw)).toThrow('must be a claim and its value, such as app_metadata.role=operator');
  });

  it.each(['user_metadata.role=operator', 'User_Metadata.role=operator', 'raw_user_meta_data.role=operator'])(
    'is no claim that users can change: %s',
    (raw) => {
      expect(() => setting.parse(raw)).toThrow(/which users can change. Use app_metadata$/);
    },
  );

  it('is no value that every user has', () => {
    expect(() => setting.parse('role=authenticated')).toThrow('which every user has');
  });
});

describe('an account', () => {
  let issuer: TestIssuer;
  let server: ConsoleServer;
  let other: ConsoleServer;
  const claims = { claim: 'app_metadata.role=operator', readerClaim: 'app_metadata.role=operator_reader' };
  const lists = { full: [], readers: ['reader@example.com'] };

  beforeAll(async () => {
    issuer = await startTestIssuer();
    const { jwksUrl } = issuer;
    [server, other] = await Promise.all([
      startConsoleServer(undefined, { operators: { ...lists, ...claims, jwksUrl } }),
      startConsoleServer(undefined, { operators: { ...lists, ...claims, readerClaim: undefined, jwksUrl } }),
    ]);
  });
  afterAll(async () => {
    await Promise.all([server.close(), other.close(), issuer.close()]);
  });

  const of = (metadata: unknown, others: JWTPayload = {}): JWTPayload => ({
    email: 'Ada@example.com',
    app_metadata: metadata,
    user_metadata: { role: 'operator' },
    ...others,
  });

  async function exchange(accessToken: string) {
    const { status, headers } = await server.send('POST', '/api/session/identity', { accessToken }, {});
    return { status, cookie: headers.get('set-cookie')?.split(';')[0] ?? '' };
  }

  async function operatorAt({ send }: ConsoleServer, cookie: string): Promise<unknown> {
    const info: unknown = await (await send('GET', '/api/console', undefined, { cookie })).json();
    return typeof info === 'object' && info !== null && 'operator' in info ? info.operator : undefined;
  }

  const enter = async (payload: JWTPayload) => exchange(await issuer.token(payload));

  it.each([
    ['full', of({ role: 'operator' })],
    ['full', of({ role: ['editor', 'operator', 'operator_reader'] })],
    ['reader', of({ role: 'operator_reader' })],
    ['full', of({ role: 'operator' }, { email: 'reader@example.com' })],
    ['reader', of({ role: 'editor' }, { email: 'reader@example.com' })],
  ])('has the role %s', async (role, payload) => {
    const { status, cookie } = await enter(payload);
    expect(status).toBe(204);
    expect(await operatorAt(server, cookie)).toEqual({ name: String(payload.email).toLowerCase(), role });
  });

  it('without an address has the name of its id', async () => {
    const { cookie } = await enter(of({ role: 'operator' }, { email: undefined }));
    expect(await operatorAt(server, cookie)).toMatchObject({ name: expect.stringMatching(/^[0-9a-f-]{36}$/) });
  });

  it.each([
    ['of user_metadata only', of({})],
    ['of another case', of({ role: 'Operator' })],
    ['that is no text', of({ role: { operator: true } })],
    ['deeper in a list', of({ role: [['operator']] })],
    ['outside of its object', of('operator', { role: 'operator', 'app_metadata.role': 'operator' })],
    ['of nothing', of(null)],
  ])('is no operator with a claim %s', async (_case, payload) => {
    expect((await enter(payload)).status).toBe(403);
  });

  it('is no operator with a forged token', async () => {
    const payload = of({ role: 'operator' }, { sub: '3f8e1f0a-8a4b-4c58-9d25-6a1b2c3d4e5f', aud: 'authenticated' });
    const { privateKey } = await generateKeyPair('ES256');
    const forged = new SignJWT(payload).setProtectedHeader({ alg: 'ES256', kid: 'k1' }).setExpirationTime('1h');
    const genuine = await issuer.token(of({ role: 'editor' }));
    const [header, , signature] = genuine.split('.');
    const changed = `${header}.${Buffer.from(JSON.stringify({ ...payload, exp: 4e9 })).toString('base64url')}.${signature}`;
    const tokens = [
      await forged.sign(privateKey),
      new UnsecuredJWT(payload).setExpirationTime('1h').encode(),
      changed,
      await issuer.token({ ...payload, exp: 1 }),
      await issuer.token({ ...payload, aud: 'anon' }),
    ];
    const statuses = await Promise.all(tokens.map(async (token) => (await exchange(token)).status));
    expect(statuses).toEqual([401, 401, 401, 401, 401]);
  });

  it('that is read-only can change neither data nor the role in its cookie', async () => {
    const { cookie } = await enter(of({ role: 'operator_reader' }));
    const change = await server.send('POST', '/api/settings/doctor', undefined, { cookie });
    expect(change.status).toBe(403);
    const [expiry, name, , signature] = cookie.replace('atelier_console=', '').split('.');
    for (const text of [`${expiry}.${name}.full`, `${expiry}.${name}`, `${expiry}.${name}.reader.full`])
      expect(await operatorAt(server, `atelier_console=${text}.${signature}`)).toBeNull();
  });

  it('has no session any more when the settings of claims change', async () => {
    const { cookie } = await enter(of({ role: 'operator' }));
    expect(await operatorAt(other, cookie)).toBeNull();
    const byAddress = await enter(of({}, { email: 'reader@example.com' }));
    expect(await operatorAt(other, byAddress.cookie)).toMatchObject({ role: 'reader' });
  });
});
